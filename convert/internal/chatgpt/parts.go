package chatgpt

import (
	"cmp"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// answerParts returns parts without the citation marks of their texts.
func answerParts(parts []content.Part) []content.Part {
	list := parts[:0]
	for _, p := range parts {
		if p.Type == content.TypeText {
			p.Text = withoutCitations(p.Text)
		}
		if p.Text != "" {
			list = append(list, p)
		}
	}
	return list
}

// partsOf returns the content of a message, with the names of its files.
func partsOf(message gjson.Result) (list []content.Part) {
	v := message.Get("content")
	names := map[string]string{} // of the files that are attached, by their ids
	var attached []gjson.Result
	for _, file := range message.Get("metadata.attachments").Array() {
		if name := file.Get("name").Str; name != "" {
			names[file.Get("id").Str] = name
			attached = append(attached, file)
		}
	}
	shown := map[string]bool{}
	add := func(p content.Part) {
		if p.Text != "" {
			list = append(list, p)
		}
	}
	switch kind := v.Get("content_type").Str; kind {
	case "code":
		if s := v.Get("text").Str; s != "" {
			language := v.Get("language").Str
			if language == "unknown" {
				language = ""
			}
			add(content.Text(parts.Fence(language, s)))
		}
	case "thoughts":
		v.Get("thoughts").ForEach(func(_, t gjson.Result) bool {
			add(content.Thinking(parts.JoinLines(t.Get("summary").Str, t.Get("content").Str), ""))
			return true
		})
		v.Get("parts").ForEach(func(_, t gjson.Result) bool {
			add(content.Thinking(t.Str, ""))
			return true
		})
	default:
		v.Get("parts").ForEach(func(_, p gjson.Result) bool {
			id := assetID(p)
			if name := names[id]; id != "" && name != "" {
				shown[id] = true
				add(assetPart(p, name))
			} else {
				add(partOf(p))
			}
			return true
		})
		if len(list) == 0 {
			add(content.Text(textOf(v)))
		}
	}
	for _, file := range attached {
		if id := file.Get("id").Str; !shown[id] {
			add(content.Part{Type: content.TypeData, Text: "[file " + file.Get("name").Str + "]", Meta: []byte(`{"data_type":"file"}`)})
		}
	}
	return list
}

// partOf returns one part of a content. Its text is empty if it has none.
func partOf(v gjson.Result) content.Part {
	if v.Type == gjson.String {
		return content.Text(v.Str)
	}
	if text := v.Get("text").Str; text != "" {
		return content.Text(text)
	}
	if at := assetOf(v); at != "" {
		return assetPart(v, at)
	}
	return content.Part{}
}

// assetOf returns the service's reference to the asset of a part, "" for none.
func assetOf(part gjson.Result) string {
	return cmp.Or(part.Get("asset_pointer").Str, part.Get("audio_asset_pointer.asset_pointer").Str)
}

// assetID returns the id of the file that a part shows, "" for none.
func assetID(part gjson.Result) string {
	at := assetOf(part)
	return at[strings.LastIndexByte(at, '/')+1:]
}

// assetPart returns a part for something that the service has, under a name.
func assetPart(v gjson.Result, name string) content.Part {
	kind := v.Get("content_type").Str
	what, _, _ := strings.Cut(kind, "_")
	if what == "real" { // real_time_user_audio_video_asset_pointer
		what = "audio"
	}
	return content.Part{Type: content.TypeData, Text: "[" + what + " " + name + "]", Meta: rawjson.Compact(map[string]string{"data_type": kind})}
}

// textOf returns all text of a content of any type.
func textOf(v gjson.Result) string {
	var all []string
	v.Get("parts").ForEach(func(_, p gjson.Result) bool {
		all = append(all, partOf(p).Text)
		return true
	})
	for _, name := range []string{"title", "url", "text", "result", "summary"} {
		all = append(all, v.Get(name).Str)
	}
	return parts.JoinLines(all...)
}
