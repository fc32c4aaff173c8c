package convert

import (
	"io"

	"github.com/bough-dev/bough/internal/content"
)

var anthropicRequest = request{format: "anthropic", form: content.Anthropic}

func detectAnthropic(head []byte) bool { return anthropicRequest.detect(head) }

func readAnthropic(in io.Reader, to Sink) error { return anthropicRequest.read(in, to) }

func writeAnthropic(w io.Writer, t *Transcript, o Options, lost *report) error {
	return anthropicRequest.write(w, t, o, lost)
}
