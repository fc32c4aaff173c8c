package rawjson

// First returns the end offset of the first value in data, and ok reports whether
// it is complete. The bytes after it are ignored. If not ok, end is the offset of
// the first invalid byte, or len(data) if the value is incomplete. data must be
// valid UTF-8.
func First(data []byte) (end int, ok bool) {
	s := scanner{data: data}
	return s.value(s.space(0))
}
