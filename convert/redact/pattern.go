package redact

import (
	"regexp"
	"sync"
)

// A pattern is a regular expression that is compiled when it is first needed.
type pattern struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

func (p *pattern) compiled() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}
