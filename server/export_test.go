package server

// Patterns returns the patterns of all endpoints.
func Patterns() (list []string) {
	for _, e := range endpoints {
		list = append(list, e.pattern)
	}
	return list
}

// Cut is cut, for tests.
func Cut(n, after, limit int, newest bool) (from, to, last int, more bool) {
	p := cut(n, after, limit, newest)
	return p.from, p.to, p.last, p.more
}

// Handle adds an endpoint that openapi.json does not describe.
func (s *Server) Handle(pattern string, f func()) { s.handle(endpoint{pattern: pattern}, f) }

// HandleLong adds an endpoint without a time limit.
func (s *Server) HandleLong(pattern string, f func()) {
	s.handle(endpoint{pattern: pattern, long: true}, f)
}

func (s *Server) handle(e endpoint, f func()) {
	e.answer = func(*call) (*answer, error) {
		f()
		return ok(nil), nil
	}
	s.mux.Handle(e.pattern, &route{e, s})
}

// Explain is explain, for tests.
func Explain(err error) (status int, msg, detail string) {
	f := explain(err)
	return f.Status, f.Message, f.Detail
}

// UploadError is uploadError, for tests.
func UploadError(err error) error { return uploadError(err) }
