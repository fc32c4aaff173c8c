package importer

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// SignedKind is the kind under which removed signatures of redacted content are
// counted.
const SignedKind = "signatures of what was redacted"

// UnsignPart removes the signature of a part that redaction changed, and
// reports whether there was one.
func UnsignPart(p *content.Part, before content.Part) bool {
	if p.Text == before.Text && bytes.Equal(p.Meta, before.Meta) || gjson.GetBytes(p.Meta, "signature").Str == "" {
		return false
	}
	meta, err := sjson.DeleteBytes(bytes.Clone(p.Meta), "signature")
	if err == nil {
		p.Meta = json.RawMessage(meta)
	}
	return err == nil
}

// Unsign removes from after the signatures of objects that differ from before,
// and returns how many it removed. before and after may differ only in texts.
func Unsign(before, after []byte) ([]byte, int) {
	if bytes.Equal(before, after) || !bytes.Contains(after, []byte("ignature")) {
		return after, 0
	}
	old, now := signedObjects(before), signedObjects(after)
	if len(old) != len(now) {
		return after, 0
	}
	var cut []rawjson.Span
	for i, o := range now {
		if !bytes.Equal(o.all.Of(after), old[i].all.Of(before)) {
			cut = append(cut, o.member)
		}
	}
	slices.SortFunc(cut, func(a, b rawjson.Span) int { return a.Start - b.Start })
	var kept []byte
	at := 0
	for _, c := range cut {
		kept = append(kept, after[at:c.Start]...)
		at = c.End
	}
	return append(kept, after[at:]...), len(cut)
}

// A signed is an object with a signature. member is the member of its parent
// that has it.
type signed struct{ all, member rawjson.Span }

// signedObjects returns the objects in a document that a provider signed, in
// the order of their ends. bough keeps the signature of a part in the part's
// meta.
func signedObjects(doc []byte) (list []signed) {
	rawjson.Walk(doc, func(w *rawjson.Walker) error {
		var signature rawjson.Span // of the object that ended last, empty if it has none
		var value func() error
		value = func() error {
			signature = rawjson.Span{}
			start, first := w.Start()
			switch first {
			case '{':
			case '[':
				err := w.Array(value)
				signature = rawjson.Span{}
				return err
			default:
				_, err := w.Value()
				return err
			}
			var starts, ends []int // of members
			var inMeta rawjson.Span
			which, signs := -1, false
			err := w.Object(func(key []byte, keyStart int) error {
				switch string(key) {
				case "thinking":
					signs = true
				case "signature":
					which = len(starts)
				case "thinkingSignature", "thoughtSignature", "thought_signature":
					which, signs = len(starts), true
				}
				starts = append(starts, keyStart)
				isMeta := string(key) == "meta"
				err := value()
				if isMeta {
					inMeta = signature
				}
				end, _ := w.Start()
				ends = append(ends, end)
				return err
			})
			signature = rawjson.Span{}
			if err != nil {
				return err
			}
			end, _ := w.Start()
			all := rawjson.Span{Start: start, End: end}
			if inMeta.End > 0 {
				list = append(list, signed{all, inMeta})
			}
			if which < 0 {
				return nil
			}
			signature = rawjson.Span{Start: starts[which], End: ends[which]}
			switch {
			case which+1 < len(starts):
				signature.End = starts[which+1]
			case which > 0:
				signature.Start = ends[which-1]
			}
			if signs {
				list = append(list, signed{all, signature})
			}
			return nil
		}
		return value()
	})
	return list
}
