package server

import (
	_ "embed"
	"net/http"
)

// description is the OpenAPI document of the server.
//
//go:embed openapi.json
var description []byte

func describe(c *call) (*answer, error) {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(http.StatusOK)
	c.w.Write(description)
	return nil, nil
}
