package workspace

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/records"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/importer"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// A Redact removes secrets from a text or, if isJSON is true, from the strings
// of a JSON value. It returns the kind of each secret found. Its error aborts
// the export.
type Redact func(text []byte, isJSON bool) (clean []byte, found []string, err error)

// redacted removes the secrets from t, and returns how many of them were in the
// data that the format writes. Most data in a record of a message, or in its
// stored form, repeats the message, so the larger count of each kind is used.
// Signatures of changed content are removed.
func redacted(t *transcript.Transcript, format *convert.Format, redact Redact) ([]transcript.Loss, error) {
	var failed error
	clean := func(text []byte, isJSON bool, found map[string]int) []byte {
		if len(text) == 0 || failed != nil {
			return text
		}
		out, kinds, err := redact(text, isJSON)
		failed = err
		for _, kind := range kinds {
			found[kind]++
		}
		return out
	}
	values := func(found map[string]int, list ...*json.RawMessage) {
		for _, v := range list {
			clean, n := importer.Unsign(*v, clean(*v, true, found))
			if *v = clean; n > 0 {
				found[importer.SignedKind] += n
			}
		}
	}
	texts := func(found map[string]int, list ...*string) {
		for _, s := range list {
			*s = string(clean([]byte(*s), false, found))
		}
	}
	total := map[string]int{}
	count := func(said, kept map[string]int) {
		for kind, n := range kept {
			said[kind] = max(said[kind], n)
		}
		for kind, n := range said {
			total[kind] += n
		}
	}
	// The format may not write all data.
	where := func(written bool, kept map[string]int) map[string]int {
		if written {
			return kept
		}
		return map[string]int{}
	}
	said, kept := map[string]int{}, map[string]int{}
	whole := func(beginning string) string {
		return string(clean([]byte(begun(t, beginning)), false, map[string]int{}))
	}
	t.Title = beginningOf(t.Title, whole)
	for i, source := range gjson.ParseBytes(t.Sources).Array() {
		if was := source.Get("said").Str; was != "" {
			if is := beginningOf(was, whole); is != was {
				t.Sources, _ = sjson.SetBytes(bytes.Clone(t.Sources), strconv.Itoa(i)+".said", is)
			}
		}
	}
	texts(said, &t.Title, &t.Dir)
	texts(map[string]int{}, &t.Version, &t.Model) // the messages have them too
	values(where(format.Sessions, kept), &t.Sources)
	for i := range t.Records {
		values(where(t.Format == format.Name, kept), &t.Records[i])
	}
	for _, list := range [][]session.Record{t.Logged.Lifecycles, t.Logged.Calls, t.Logged.Results} {
		for i := range list {
			values(kept, (*json.RawMessage)(&list[i].Raw))
		}
	}
	count(said, kept)
	for _, m := range t.Messages {
		said, kept := map[string]int{}, map[string]int{}
		for i := range m.Parts {
			p := &m.Parts[i]
			before := *p
			texts(said, &p.Text, &p.Filename)
			if data, ok := textFile(p.Meta); ok {
				p.Meta, _ = sjson.SetBytes(bytes.Clone(p.Meta), "data", base64.StdEncoding.EncodeToString(clean(data, false, said)))
			}
			values(said, &p.Meta)
			if importer.UnsignPart(p, before) {
				said[importer.SignedKind]++
			}
		}
		texts(said, &m.Own.Name, &m.Own.Role, &m.Model)
		values(said, &m.Own.Rest)
		m.Raw = records.Expand(m.Raw) // a key in a record may hold a secret
		values(where(format.Sessions, kept), &m.Raw)
		m.Raw = records.Share(m.Raw)
		for i := range m.Records {
			values(where(m.Format == format.Name, kept), &m.Records[i])
		}
		count(said, kept)
	}
	list := []transcript.Loss{}
	for kind, n := range total {
		list = append(list, transcript.Loss{What: kind, Count: n})
	}
	slices.SortFunc(list, func(a, b transcript.Loss) int { return cmp.Compare(a.What, b.What) })
	return list, failed
}

// begun returns the first text in a transcript that begins with a title, as words between single
// blanks, "" if there is none. Of a long text it returns the first 16 kB.
func begun(t *transcript.Transcript, title string) string {
	const longest = 1 << 14
	for _, m := range t.Messages {
		for i := range m.Parts {
			text := m.Parts[i].Text
			if text = strings.Join(strings.Fields(text[:min(len(text), longest)]), " "); strings.HasPrefix(text, title) {
				return text
			}
		}
	}
	return ""
}

// beginningOf returns a title that is the beginning of a text. If that begins otherwise without
// its secrets, so does the title: of a secret in which the title ends, it has only a part, which
// is not recognized. whole returns the text without secrets, "" if there is none.
func beginningOf(title string, whole func(beginning string) string) string {
	const more = "…"
	start := strings.Join(strings.Fields(strings.TrimSuffix(title, more)), " ")
	text := whole(start)
	if start == "" || text == "" || strings.HasPrefix(text, start) {
		return title
	}
	runes := []rune(text)
	return string(runes[:min(len(runes), utf8.RuneCountInString(start))]) + more
}

// textFile decodes a base64-encoded file in the meta of a part. It returns
// false if there is none or it is not text.
func textFile(meta []byte) ([]byte, bool) {
	v := gjson.GetManyBytes(meta, "type", "data")
	if v[0].Str != "base64" {
		return nil, false
	}
	data, err := base64.StdEncoding.DecodeString(v[1].Str)
	return data, err == nil && len(data) > 0 && utf8.Valid(data)
}
