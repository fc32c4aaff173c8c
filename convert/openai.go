package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/bough-dev/bough/content"
	"github.com/tidwall/gjson"
)

// openAI is the array of messages that OpenAI's chat completions take, or an object with
// it in the member messages. It has no ids and no times: a message is known by what it
// says and what comes before it.
var openAI = Format{
	Name:   "openai",
	About:  "the messages of a request to OpenAI's chat completions",
	Ext:    ".json",
	detect: detectOpenAI,
	read:   readOpenAI,
	write:  writeOpenAI,
}

func detectOpenAI(head []byte) bool {
	v := gjson.ParseBytes(bytes.TrimSpace(head))
	if v.IsObject() {
		v = v.Get("messages")
	}
	first := v.Get("0")
	return v.IsArray() && first.Get("role").Type == gjson.String &&
		(first.Get("content").Exists() || first.Get("tool_calls").IsArray()) && !first.Get("id").Exists()
}

func readOpenAI(in io.Reader, to Sink) error {
	var c Conversation
	var last string
	inArray := func(path []string) bool {
		return len(path) == 0 || len(path) == 1 && path[0] == "messages"
	}
	n := 0
	err := walk(in, inArray, func(v visit) error {
		switch {
		case v.raw == nil:
			return nil
		case len(v.path) == 0 || v.path[len(v.path)-1] != "":
			return nil // a member beside the messages
		}
		n++
		said, err := content.Parse(content.OpenAI, v.raw, nil)
		if err != nil {
			to.Problem(Problem{Offset: v.offset, What: err.Error()})
			return nil
		}
		said.Own.Format, said.Own.Rest = "", nil
		m := &Message{Message: *said, ID: ChainID(last, v.raw), Parent: last, Format: "openai", Records: []json.RawMessage{v.raw}}
		last = m.ID
		return to.Message(m)
	})
	if n == 0 {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		to.Problem(Problem{What: "it ends too early"})
		err = nil
	}
	if err != nil {
		return err
	}
	return to.End(&c)
}

func writeOpenAI(w io.Writer, t *Transcript, _ Options, lost *losses) error {
	list := make([]*content.Message, len(t.Messages))
	for i, m := range t.Messages {
		list[i] = &m.Message
	}
	items := content.Items(content.OpenAI, list, nil)
	var b bytes.Buffer
	for i, m := range t.Messages {
		b.WriteString(map[bool]string{true: "[", false: ",\n "}[i == 0])
		if m.Format == "openai" && len(m.Records) == 1 {
			b.Write(m.Records[0])
		} else {
			b.Write(items[i])
			m.count(lost, "times", !m.Time.IsZero())
		}
	}
	b.WriteString("]\n")
	_, err := w.Write(b.Bytes())
	return err
}

// count counts a loss if it is one.
func (m *Message) count(lost *losses, what string, is bool) {
	if is {
		lost.add(what)
	}
}
