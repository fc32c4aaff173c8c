// Package messages reads and writes data for training and evaluation: on each line an object
// with a conversation in the member messages, as the libraries of Hugging Face and OpenAI's
// fine-tuning take it. The messages are those of OpenAI's Chat Completions API.
//
// The form is that of docs/source/dataset_formats.md in the repository huggingface/trl.
package messages

import (
	"io"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/request"
	"github.com/bough-dev/bough/convert/transcript"
)

var provider = request.Provider{Name: "messages", API: content.OpenAI, Lines: true}

func Detect(head []byte) bool { return provider.Detect(head) }

func Read(in io.Reader, to transcript.Sink) error { return provider.Read(in, to) }

func Write(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	return provider.Write(w, t, o, lost)
}
