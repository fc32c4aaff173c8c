package convert

import (
	"io"

	"github.com/bough-dev/bough/internal/content"
)

var openaiRequest = request{format: "openai", form: content.OpenAI}

func detectOpenAI(head []byte) bool { return openaiRequest.detect(head) }

func readOpenAI(in io.Reader, to Sink) error { return openaiRequest.read(in, to) }

func writeOpenAI(w io.Writer, t *Transcript, o Options, lost *report) error {
	return openaiRequest.write(w, t, o, lost)
}
