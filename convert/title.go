package convert

import "strings"

// TitleFrom stub.
func TitleFrom(m *Message) (title string, ok bool) {
	for l := range strings.Lines(m.texts()) {
		if l = strings.Join(strings.Fields(l), " "); l != "" {
			return l, !strings.HasPrefix(l, "<") && !strings.HasPrefix(l, "Caveat: ")
		}
	}
	return "", false
}
