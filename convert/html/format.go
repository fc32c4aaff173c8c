package html

import (
	"io"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
)

// Format returns the page as a write-only format of package convert.
func Format() *convert.Format {
	f := convert.NewPage("html", "one self-contained page for a browser", ".html", writeTranscript)
	f.Aliases = []string{"htm"}
	return f
}

func writeTranscript(w io.Writer, t *transcript.Transcript) error {
	p := Page{Title: t.Title, Leaf: t.Leaf}
	for _, m := range t.Messages {
		p.Messages = append(p.Messages, MessageOf(m))
	}
	return Write(w, p)
}
