package content

import (
	"encoding/json"
	"fmt"
)

// fromAcontext parses an object with role, parts and meta.
func fromAcontext(blob []byte) (*Message, error) {
	var role, list, meta []byte
	each(blob, func(name, value []byte) {
		switch string(name) {
		case "role":
			set(&role, value)
		case "parts":
			set(&list, value)
		case "meta":
			set(&meta, value)
		}
	})
	m := &Message{Own: Own{Format: Acontext}}
	var err error
	if m.Role, err = roleOf(role, user, assistant); err != nil {
		return nil, err
	}
	if list != nil && !isArray(list) {
		return nil, wrong("parts", "must be an array")
	}
	if m.Parts, err = parts("parts", list, acontextPart); err != nil {
		return nil, err
	}
	if meta != nil && !isObject(meta) {
		return nil, wrong("meta", "must be an object")
	}
	m.Own.read(meta)
	return m, nil
}

// read parses Acontext's meta of a message.
func (o *Own) read(meta []byte) {
	var rest writer
	each(meta, func(name, value []byte) {
		s := text(value)
		switch key := string(name); {
		case key == "source_format":
			if s != "" {
				o.Format = Format(s)
			}
		case key == "name" && s != "":
			o.Name = s
		case key == "original_role" && s != "":
			o.Role = s
		default:
			rest.member(name, value)
		}
	})
	o.Rest = rest.object()
}

// acontextPart parses a part of a request: it may name the form field of its asset,
// and has no asset.
func acontextPart(element []byte) (Part, error) {
	if !isObject(element) {
		return Part{}, wrong("", "must be an object")
	}
	var kind, said, file, meta []byte
	each(element, func(name, value []byte) {
		switch string(name) {
		case "type":
			set(&kind, value)
		case "text":
			set(&said, value)
		case "file_field":
			set(&file, value)
		case "meta":
			set(&meta, value)
		}
	})
	p := Part{Type: text(kind)}
	var err error
	if p.Text, err = textOf("text", said); err != nil {
		return p, err
	}
	if p.FileField, err = textOf("file_field", file); err != nil {
		return p, err
	}
	if meta != nil && !isObject(meta) {
		return p, wrong("meta", "must be an object")
	}
	if len(meta) > len(`{}`) {
		p.Meta = meta
	}
	return p, p.check(kind)
}

// check returns an error if a required member of the part's type is missing.
func (p *Part) check(kind []byte) error {
	needs := func(names ...string) error {
		for _, name := range names {
			if isNull(p.meta(name)) {
				return wrong("meta."+name, "a part of type %s needs it", p.Type)
			}
		}
		return nil
	}
	switch {
	case kind == nil:
		return wrong("type", "missing")
	case !isPartType(p.Type):
		return wrong("type", "unknown part type %s", kind)
	}
	switch p.Type {
	case TypeText, TypeThinking:
		if p.Text == "" {
			return wrong("text", "must not be empty in a part of type %s", p.Type)
		}
	case TypeToolCall:
		return needs("name", "arguments")
	case TypeToolResult:
		return needs("tool_call_id")
	case TypeData:
		return needs("data_type")
	}
	return nil
}

// append writes a part in Acontext's format.
func (p *Part) append(w *writer) {
	w.open('{')
	w.text("type", p.Type)
	if p.Text != "" {
		w.text("text", p.Text)
	}
	if p.Asset != nil {
		asset, err := json.Marshal(p.Asset)
		if err != nil {
			panic(fmt.Sprintf("content: %v", err))
		}
		w.raw("asset", asset)
	}
	if p.Filename != "" {
		w.text("filename", p.Filename)
	}
	if len(p.Meta) > 0 {
		w.raw("meta", p.Meta)
	}
	w.close('}')
}

// readPart parses a part that append wrote. ok is false if raw has anything else.
func readPart(raw []byte) (p Part, ok bool) {
	ok = true
	each(raw, func(name, value []byte) {
		switch string(name) {
		case "type":
			p.Type = text(value)
		case "text":
			ok = ok && isText(value)
			p.Text = text(value)
		case "asset":
			p.Asset = new(Asset)
			ok = ok && isObject(value) && json.Unmarshal(tidy(value), p.Asset) == nil
		case "filename":
			ok = ok && isText(value)
			p.Filename = text(value)
		case "meta":
			if ok = ok && isObject(value); !isBlank(value) {
				p.Meta = tidy(value)
			}
		default:
			ok = false
		}
	})
	return p, ok && isPartType(p.Type)
}

// toAcontext writes m in the format that Parse accepts.
func toAcontext(w *writer, m *Message) {
	w.open('{')
	w.text("role", m.Role)
	w.key("parts")
	m.appendParts(w)
	if own, err := m.Own.MarshalJSON(); err == nil && len(own) > len(`{}`) {
		w.raw("meta", own)
	}
	w.close('}')
}

func (m *Message) appendParts(w *writer) {
	w.open('[')
	for i := range m.Parts {
		m.Parts[i].append(w)
	}
	w.close(']')
}
