package convert

import (
	"io"

	"github.com/bough-dev/bough/content"
)

// openAI is what OpenAI's chat completions take; see [request].
var openAI = Format{
	Name:   "openai",
	About:  "the messages of a request to OpenAI's chat completions",
	Ext:    ".json",
	detect: func(head []byte) bool { return kindOf(head) == "openai" },
	read: func(in io.Reader, to Sink) error {
		return request{"openai", content.OpenAI}.read(in, to)
	},
	write: func(w io.Writer, t *Transcript, o Options, lost *losses) error {
		return request{"openai", content.OpenAI}.write(w, t, o, lost)
	},
}

// anthropicAPI is what Anthropic's messages take; see [request]. The member system is the
// first message. It is told from OpenAI's by that member, by a model whose name begins
// with claude, or by blocks that only Anthropic has.
var anthropicAPI = Format{
	Name:   "anthropic",
	About:  "the messages of a request to Anthropic's messages",
	Ext:    ".json",
	detect: func(head []byte) bool { return kindOf(head) == "anthropic" },
	read: func(in io.Reader, to Sink) error {
		return request{"anthropic", content.Anthropic}.read(in, to)
	},
	write: func(w io.Writer, t *Transcript, o Options, lost *losses) error {
		return request{"anthropic", content.Anthropic}.write(w, t, o, lost)
	},
}
