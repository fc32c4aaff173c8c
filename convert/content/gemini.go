package content

import (
	"encoding/hex"
	"io"
	"strings"
)

// fromGemini parses a content of Gemini.
func fromGemini(blob []byte, random io.Reader) (*Message, error) {
	var role, list []byte
	each(blob, func(name, value []byte) {
		switch string(name) {
		case "role":
			set(&role, value)
		case "parts":
			set(&list, value)
		}
	})
	m := &Message{Role: user, Own: Own{Format: Gemini}}
	as, err := roleOf(role, user, "model")
	if err != nil {
		return nil, err
	}
	if as == "model" {
		m.Role = assistant
	}
	if list != nil && !isArray(list) {
		return nil, wrong("parts", "must be an array")
	}
	m.Parts, err = parts("parts", list, func(element []byte) (Part, error) {
		return geminiPart(element, random)
	})
	return m, err
}

// geminiPart parses one part of a content.
func geminiPart(element []byte, random io.Reader) (p Part, err error) {
	if !isObject(element) {
		return p, wrong("", "must be an object")
	}
	var said, thought, signature, inline, file, call, response []byte
	var meta, rest writer
	each(element, func(name, value []byte) {
		switch string(name) {
		case "text":
			set(&said, value)
		case "thought":
			set(&thought, value)
		case "thoughtSignature", "thought_signature":
			set(&signature, value)
		case "inlineData", "inline_data":
			set(&inline, value)
		case "fileData", "file_data":
			set(&file, value)
		case "functionCall", "function_call":
			set(&call, value)
		case "functionResponse", "function_response":
			set(&response, value)
		default:
			rest.keep(name, value)
		}
	})
	switch {
	case inline != nil:
		p.Type, err = geminiData(&meta, "inlineData", inline, "base64", "data")
	case file != nil:
		p.Type, err = geminiData(&meta, "fileData", file, "url", "url")
	case call != nil:
		p.Type = TypeToolCall
		err = geminiCall(&meta, call, random)
	case response != nil:
		p.Type = TypeToolResult
		p.Text, err = geminiResult(&meta, response)
	case said != nil:
		p.Type = TypeText
		if string(thought) == "true" {
			p.Type = TypeThinking
		}
		p.Text, err = textOf("text", said)
	default:
		err = wrong("", "must have text, inlineData, fileData, functionCall or functionResponse")
	}
	if err != nil {
		return p, err
	}
	if isText(signature) {
		meta.raw("signature", signature)
	}
	each(rest.object(), meta.member)
	p.Meta = meta.object()
	return p, nil
}

// geminiData parses a file or its address into meta, and returns the type of the
// part.
func geminiData(meta *writer, at string, object []byte, kind, as string) (string, error) {
	if !isObject(object) {
		return "", wrong(at, "must be an object")
	}
	var mime, data []byte
	var rest writer
	each(object, func(name, value []byte) {
		switch string(name) {
		case "mimeType", "mime_type":
			set(&mime, value)
		case "data", "fileUri", "file_uri":
			set(&data, value)
		default:
			rest.keep(name, value)
		}
	})
	if !isText(data) {
		return "", wrong(at, "has no file")
	}
	meta.text("type", kind)
	if isText(mime) {
		meta.raw("media_type", mime)
	}
	meta.raw(as, data)
	each(rest.object(), meta.member)
	return typeOfMedia(text(mime)), nil
}

// typeOfMedia returns the part type for a media type, image for "".
func typeOfMedia(mime string) string {
	switch kind, _, _ := strings.Cut(mime, "/"); kind {
	case "", "image":
		return TypeImage
	case "audio":
		return TypeAudio
	case "video":
		return TypeVideo
	}
	return TypeFile
}

// geminiCall parses a functionCall into meta.
func geminiCall(meta *writer, call []byte, random io.Reader) error {
	if !isObject(call) {
		return wrong("functionCall", "must be an object")
	}
	id, name, args := member(call, "id"), member(call, "name"), member(call, "args")
	switch {
	case text(name) == "":
		return wrong("functionCall.name", "must be a string that is not empty")
	case isNull(args):
		args = []byte(`{}`)
	case !isObject(args):
		return wrong("functionCall.args", "must be an object")
	}
	if text(id) != "" {
		meta.raw("id", id)
	} else {
		var b [4]byte
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return err
		}
		meta.text("id", "call_"+hex.EncodeToString(b[:]))
	}
	meta.raw("name", name)
	meta.text("arguments", string(args))
	meta.text("type", "function")
	return nil
}

// geminiResult parses a functionResponse into meta, and returns its text.
func geminiResult(meta *writer, response []byte) (string, error) {
	if !isObject(response) {
		return "", wrong("functionResponse", "must be an object")
	}
	id, name, said := member(response, "id"), member(response, "name"), member(response, "response")
	switch {
	case text(name) == "":
		return "", wrong("functionResponse.name", "must be a string that is not empty")
	case isNull(said):
		said = nil
	case !isObject(said):
		return "", wrong("functionResponse.response", "must be an object")
	}
	if text(id) != "" {
		meta.raw("tool_call_id", id)
	}
	meta.raw("name", name)
	return string(said), nil
}
