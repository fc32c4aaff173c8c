package content

import (
	"net/url"
	"path"
	"strings"
)

// A media is a file or an image, or its address.
type media struct {
	url    string // http, data, or any other text
	mime   string
	data   string // base64; text if kind is text
	kind   string // Anthropic's type of a source
	id     string // assigned by a provider
	name   string
	format string // of audio, as in OpenAI's format: wav, mp3
	detail string
}

// media returns the file of a part.
func (p *Part) media(link func(*Asset) string) media {
	m := media{name: p.Filename}
	if p.Asset != nil {
		m.url, m.mime = link(p.Asset), p.Asset.MIME
	}
	first := func(at *string, value []byte) {
		if *at == "" {
			*at = text(value)
		}
	}
	each(p.Meta, func(name, value []byte) {
		switch string(name) {
		case "url":
			first(&m.url, value)
		case "image_path", "audio_path", "video_path", "file_path":
			if m.url == "" && isText(value) {
				m.url = (&url.URL{Scheme: "file", Path: path.Join("/", strings.ReplaceAll(text(value), `\`, "/"))}).String()
			}
		case "media_type":
			first(&m.mime, value)
		case "data", "file_data":
			first(&m.data, value)
		case "type":
			first(&m.kind, value)
		case "file_id":
			first(&m.id, value)
		case "filename", "title":
			first(&m.name, value)
		case "format":
			first(&m.format, value)
		case "detail":
			first(&m.detail, value)
		}
	})
	if strings.HasPrefix(m.data, "data:") && m.url == "" {
		m.url, m.data = m.data, ""
	}
	return m
}

// inline returns the content of the file in base64 and its media type, other if
// unknown. ok is false if the content is not inline.
func (m media) inline(other string) (data, mime string, ok bool) {
	data, mime = m.data, m.mime
	if head, body, isData := strings.Cut(m.url, ";base64,"); data == "" && isData && strings.HasPrefix(head, "data:") {
		data = body
		mime, _, _ = strings.Cut(head[len("data:"):], ";")
	}
	if mime == "" {
		mime = other
	}
	return data, mime, data != "" && m.kind != "text"
}

// elsewhere returns the address of the file, "" if it is inline or unknown.
func (m media) elsewhere() string {
	if strings.HasPrefix(m.url, "data:") {
		return ""
	}
	return m.url
}

// audioFormat returns OpenAI's format name for a media type.
func audioFormat(mime string) string {
	switch _, format, _ := strings.Cut(mime, "/"); format {
	case "mpeg", "mpga":
		return "mp3"
	case "x-wav", "wave", "vnd.wave":
		return "wav"
	default:
		return format
	}
}
