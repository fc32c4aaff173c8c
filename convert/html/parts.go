package html

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/tidwall/gjson"
)

// part writes a part of a message.
func (w *writer) part(p *content.Part, typed bool) {
	switch p.Type {
	case "text":
		w.raw(`<div class="text" dir="auto">`)
		w.markdown(p.Text, typed)
		w.raw("</div>\n")
	case "thinking":
		w.raw(`<details class="thinking"><summary>Thinking</summary><div class="text" dir="auto">`)
		w.markdown(p.Text, false)
		w.raw("</div></details>\n")
	case "redacted_thinking":
		w.raw(`<p class="note">Thinking that its provider has hidden.</p>`, "\n")
	case "tool-call":
		w.call(p)
	case "tool-result":
		w.result(p)
	case "image", "audio", "video", "file":
		w.file(p.Type, p.Filename, p.Asset, p.Meta)
	default:
		if p.Text != "" && isNamed(p.Meta) {
			w.raw(`<p class="file"><bdi>`, escape(short(p.Text)), "</bdi></p>\n")
			return
		}
		w.raw(`<details class="data"><summary>`, escape(short(kindOf(p))), "</summary>\n")
		w.pre(p.Text)
		if len(p.Meta) > 0 {
			w.pre(string(p.Meta))
		}
		w.raw("</details>\n")
	}
}

// isNamed reports whether the members of a part of data only describe it.
func isNamed(meta []byte) bool {
	n := 0
	gjson.ParseBytes(meta).ForEach(func(_, _ gjson.Result) bool { n++; return true })
	return n == 1 && gjson.GetBytes(meta, "data_type").Type == gjson.String
}

func kindOf(p *content.Part) string {
	if s := gjson.GetBytes(p.Meta, "data_type").String(); s != "" {
		return s
	}
	return "Data"
}

func (w *writer) pre(s string) {
	if s != "" {
		// The first line end after the tag is none.
		w.raw("<pre tabindex=\"0\">\n", Code(s), "</pre>\n")
	}
}

// call writes a tool call.
func (w *writer) call(p *content.Part) {
	arguments := gjson.GetBytes(p.Meta, "arguments")
	text := arguments.String()
	w.raw(`<details class="call"><summary>Calls <code>`, Code(short(gjson.GetBytes(p.Meta, "name").String())), "</code> <bdi>", escape(gist(text)), "</bdi></summary>\n")
	if p.Text != "" {
		w.pre(p.Text)
	}
	if object := gjson.Parse(text); json.Valid([]byte(text)) && object.IsObject() {
		w.raw("<dl>")
		object.ForEach(func(name, value gjson.Result) bool {
			w.raw("<dt>", Code(name.String()), "</dt><dd>\n")
			w.pre(value.String())
			w.raw("</dd>\n")
			return true
		})
		w.raw("</dl>")
	} else {
		w.pre(text)
	}
	w.raw("</details>\n")
}

// gist returns the most informative argument of a call.
func gist(arguments string) string {
	if !json.Valid([]byte(arguments)) {
		return short(arguments)
	}
	for _, name := range []string{"description", "command", "cmd", "file_path", "path", "pattern", "query", "url", "prompt"} {
		switch v := gjson.Get(arguments, name); {
		case v.IsArray():
			var words []string
			for _, e := range v.Array() {
				words = append(words, e.String())
			}
			return short(strings.Join(words, " "))
		case v.String() != "":
			return short(v.String())
		}
	}
	if s := short(arguments); s != "{}" {
		return s
	}
	return ""
}

// result writes the result of a tool.
func (w *writer) result(p *content.Part) {
	word, class := "Result", "result"
	if gjson.GetBytes(p.Meta, "is_error").Bool() {
		word, class = "Error", "result error"
	}
	w.raw(`<details class="`, class, `"><summary>`, word)
	if name := gjson.GetBytes(p.Meta, "name").String(); name != "" {
		w.raw(" of <code>", Code(short(name)), "</code>")
	}
	w.raw(" <bdi>", escape(short(p.Text)), "</bdi></summary>\n")
	w.pre(p.Text)
	gjson.GetBytes(p.Meta, "content").ForEach(func(_, block gjson.Result) bool {
		if kind := block.Get("type").String(); kind != "text" {
			w.file(kind, "", nil, []byte(block.Raw))
		}
		return true
	})
	w.raw("</details>\n")
}

// file writes a file, as an image if it is one, or where it is.
func (w *writer) file(kind, name string, asset *content.Asset, meta []byte) {
	m := gjson.ParseBytes(meta)
	if source := m.Get("source"); source.IsObject() {
		m = source
	}
	first := func(names ...string) string {
		for _, n := range names {
			if s := m.Get(n).String(); s != "" {
				return s
			}
		}
		return ""
	}
	if name == "" {
		name = first("filename", "title", "file_id", "image_path", "file_path", "audio_path", "video_path")
	}
	mime, address := first("media_type"), first("url")
	if data := first("data", "file_data"); data != "" && m.Get("type").String() != "text" {
		if strings.HasPrefix(data, "data:") {
			address = data
		} else {
			address = "data:" + mime + ";base64," + data
		}
	}
	served := ""
	if asset != nil {
		mime = cmp.Or(mime, asset.MIME)
		if w.files != nil {
			served = w.files(asset)
		}
	}
	if isImage(address) || kind == "image" && served != "" {
		w.raw("<figure>")
		if served != "" {
			w.img(escape(served), name)
		} else {
			w.image(address, name)
		}
		if name != "" {
			w.raw("<figcaption><bdi>", escape(short(name)), "</bdi></figcaption>")
		}
		w.raw("</figure>\n")
		return
	}
	if kind == "" {
		kind = "file"
	}
	w.raw(`<p class="file">`, escape(strings.ToUpper(kind[:1])+short(kind[1:])))
	for _, s := range []string{name, mime} {
		if s != "" {
			w.raw(" <bdi>", escape(short(s)), "</bdi>")
		}
	}
	if served != "" {
		w.raw(` <a href="`, escape(served), `" download>Download</a>`)
	}
	if target, ok := webAddress(address); ok {
		w.raw(` <a href="`, target, `" rel="noopener noreferrer nofollow"><bdi>`, escape(short(address)), "</bdi></a>")
	}
	w.raw("</p>\n")
	if data := m.Get("data"); m.Get("type").String() == "text" && data.String() != "" {
		w.raw("<details><summary>Text</summary>\n")
		w.pre(data.String())
		w.raw("</details>\n")
	}
}

// image writes an image that the conversation contains. address is its data URL.
func (w *writer) image(address, name string) {
	if w.images != nil {
		address = escape(w.images(address))
	}
	w.img(address, name)
}

func (w *writer) img(address, name string) {
	if name == "" {
		name = "Image"
	}
	w.raw(`<img src="`, address, `" alt="`, escape(short(name)), `" loading="lazy" decoding="async">`)
}

// isImage reports whether address holds an image that a page may show: nothing that has
// text or links in it.
func isImage(address string) bool {
	head, data, ok := strings.Cut(address, ";base64,")
	switch head {
	case "data:image/png", "data:image/jpeg", "data:image/gif", "data:image/webp":
	default:
		return false
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
	return ok && data != "" && !strings.ContainsFunc(data, func(c rune) bool { return c > 'z' || strings.IndexByte(letters, byte(c)) < 0 })
}

// webAddress returns an address, as the value of an attribute, if a page may lead there.
func webAddress(address string) (string, bool) {
	if clean(address) != address || strings.ContainsAny(address, " \t\n<>\"\\") {
		return "", false
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	switch {
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "", u.Scheme == "mailto" && u.Opaque != "":
		return escape(address), true
	}
	return "", false
}
