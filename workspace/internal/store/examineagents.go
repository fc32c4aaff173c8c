package store

import (
	"github.com/bough-dev/bough/workspace/fault"
)

func IsNotFound(err error) bool {
	e := Explain(err)
	return e != nil && e.Code == fault.NotFound
}
