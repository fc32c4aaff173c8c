package content

import (
	"net/url"
	"path"
	"strings"
)

// A media is a file or an image, or where it is.
type media struct {
	url    string // http, data, or whatever somebody wrote
	mime   string
	data   string // base64; text if kind is text
	kind   string // what Anthropic calls the type of a source
	id     string // what a provider calls it
	name   string
	format string // of audio, as OpenAI has it: wav, mp3
	detail string
}

// media returns what a part says of its file.
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

// inline returns the content of the file in base64 and its media type, which is other
// if nobody says it. It reports false if the content is elsewhere.
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

// elsewhere returns the address of the file, "" if that is the file itself or there is
// none.
func (m media) elsewhere() string {
	if strings.HasPrefix(m.url, "data:") {
		return ""
	}
	return m.url
}

// audioFormat returns what OpenAI calls the format of a media type.
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
