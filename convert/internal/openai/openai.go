// Package openai reads and writes the messages of a request to OpenAI's Chat Completions API.
package openai

import (
	"io"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/request"
	"github.com/bough-dev/bough/convert/transcript"
)

var provider = request.Provider{Name: "openai", API: content.OpenAI}

func Detect(head []byte) bool { return provider.Detect(head) }

func Read(in io.Reader, to transcript.Sink) error { return provider.Read(in, to) }

func Write(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	return provider.Write(w, t, o, lost)
}
