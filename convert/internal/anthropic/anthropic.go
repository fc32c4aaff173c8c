// Package anthropic reads and writes the messages of a request to Anthropic's Messages API. The
// member system is the first message. It is detected by that member, by a model whose name
// begins with claude, or by blocks that only Anthropic has.
package anthropic

import (
	"io"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/request"
	"github.com/bough-dev/bough/convert/transcript"
)

var provider = request.Provider{Name: "anthropic", API: content.Anthropic}

func Detect(head []byte) bool { return provider.Detect(head) }

func Read(in io.Reader, to transcript.Sink) error { return provider.Read(in, to) }

func Write(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	return provider.Write(w, t, o, lost)
}
