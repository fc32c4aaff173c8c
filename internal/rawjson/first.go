package rawjson

// First returns where the first value in data ends, and reports whether there is a whole
// one; what stands behind it does not matter. If not, end is the offset of the first byte
// that cannot stand where it stands, len(data) if the value goes on there. data is valid
// UTF-8.
func First(data []byte) (end int, ok bool) {
	s := scanner{data: data}
	return s.value(s.space(0))
}
