package exchange

import (
	"net/http"
	"strconv"
)

// Pieces is a JSON document in pieces. They are not joined or validated again
// before they are sent, which would be slow for a long conversation.
type Pieces [][]byte

// Send sends a document. It ignores errors, because the client has disconnected
// then.
func Send(w http.ResponseWriter, status int, body Pieces) {
	size := 0
	for _, piece := range body {
		size += len(piece)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(size))
	w.WriteHeader(status)
	for _, piece := range body {
		w.Write(piece)
	}
}

// SetFailureHeaders sets the headers that the status of a failure requires.
func SetFailureHeaders(w http.ResponseWriter, status int) {
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusRequestTimeout:
		w.Header().Set("Connection", "close")
	}
}
