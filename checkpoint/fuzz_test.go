package checkpoint_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
)

// FuzzFlatten: flatten(branch(x)) is flatten(x). For any line and node, a snapshot
// that is written, read and flattened again holds the same messages, byte for byte
// and in order, and so does a checkpoint of a branch of a checkpoint. The
// continuation of a snapshot follows all its messages.
func FuzzFlatten(f *testing.F) {
	seeds := []string{
		"\x00", "\x00\x00\x00\x00", "\x00\x00\x0a\x00", "\x00\x00\x05\x00\x00", "\x00\x00\x05\x00\x01\x0c",
		"\x00\x00\x00\x05\x0c\x00\x05\x04\x06\x1a\x00\x03\x00", "\x00\x00\x06\x04\x04\x05\x00\x05\x05\x00\x0d\x00", "\x00\x08\x05\x07\x00\x0f\x87\x05\x00", "\x00\x00\x04\x00", "\x00\x00\x0b\x00", "\x0b\x00\x13\x00", "\x00\x0b\x05\x93\x00",
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, seed := range seeds {
		f.Add([]byte(seed), uint8(len(seed)-1))
		f.Add([]byte(seed), uint8(len(seed)/2))
	}
	// A path that begins with a message whose join is ignored, because it is part of a
	// cycle of joins.
	f.Add([]byte("\x00 2\xd8\x00\xf3Ӂ\xf7\xab\xb5&\xb9\x8aUm\x15+\xd4\x14\xa8\x99H]\x14N\xd6\x04\xe7\xb2\x05\x97"), uint8(251))
	f.Fuzz(func(t *testing.T, data []byte, at uint8) {
		if len(data) > 120 {
			return
		}
		tr, err := newTree(parts(t, data)...)
		if err != nil || tr.Len() == 0 {
			return // a cycle, or empty
		}
		n := int(at) % tr.Len()
		want := raws(tr, n)
		if !distinct(tr, n) {
			return // a file cannot hold duplicate ids
		}
		last := tr
		for i, kind := range []session.Kind{session.Checkpoint, session.Branch, session.Checkpoint} {
			for _, d := range []session.Dialect{session.Bough, session.Penguin} {
				snap := checkpoint.Spec{ID: fmt.Sprint("snap", i), Kind: kind, Dialect: d, Source: "p0", Lineage: []string{"p0"}, Now: "now"}
				s := flatten(t, last, n, snap)
				if got := rawMessages(s); !slices.Equal(got, want) {
					t.Fatalf("snapshot %d at node %d of %q holds\n%q\nwant\n%q", i, at, data, got, want)
				}
				again := grow(t, s)
				if got := raws(again, again.Newest(0)); !slices.Equal(got, want) {
					t.Fatalf("the path of snapshot %d at node %d of %q is\n%q\nwant\n%q", i, at, data, got, want)
				}
				if d == session.Penguin {
					continued(t, s, want)
					last, n = again, again.Newest(0)
				}
			}
		}
	})
}

// continued continues a snapshot as Penguin does, in another file.
func continued(t *testing.T, s *session.Session, want []string) {
	t.Helper()
	const more = `{"id":"more"}`
	next := decode(t, "next", fmt.Appendf(nil, `{"metadata":{"continued_from":%q},"messages":[%s,%s,%s]}`, s.ID, `{"id":"copied"}`, marker(s.ID), more))
	tr := grow(t, s, next)
	if got := raws(tr, tr.Newest(0)); !slices.Equal(got, append(slices.Clone(want), more)) {
		t.Fatalf("what continues %q reads\n%q", want, got)
	}
}

// distinct reports whether the messages of the path have distinct ids.
func distinct(tr *session.Tree, n int) bool {
	seen := map[string]bool{}
	for _, k := range tr.Path(n) {
		id := tr.ID(k)
		if seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

// parts makes the files of a line of data, one byte per step: its low bits select
// the step, the others the message.
func parts(t *testing.T, data []byte) []*session.Session {
	list := []part{{id: "p0"}}
	var first []string // ids in the first file
	here := map[string]bool{}
	for i, b := range data {
		id, other := fmt.Sprint("m", i), fmt.Sprint("m", b>>3)
		add := func(id, message string) {
			if here[id] {
				return
			}
			here[id] = true
			list[len(list)-1].messages = append(list[len(list)-1].messages, message)
			if len(list) == 1 {
				first = append(first, id)
			}
		}
		switch b & 7 {
		case 0, 1:
			add(id, message(id, `"n":NaN,"s":"\ud83d "`))
		case 2:
			add(id, under(other, id)) // an earlier or later message, itself, or none
		case 3:
			switch {
			case b>>3 == 0:
				add(id, message(id, `"parent_id":null`))
			case b < 128:
				add(id, joined("null", other, id))
			default:
				add(id, joined(fmt.Sprintf(`"m%d"`, i+int(b>>3&7)), fmt.Sprint("m", b>>3&7), id))
			}
		case 4:
			add(id, message(id, fmt.Sprintf(`"parent_id":%q,"bough":{"continued":true}`, other)))
		case 5, 6:
			from := list[int(b>>3)%len(list)].id
			link, end := fmt.Sprintf(`"continued_from":%q`, from), marker(from)
			if b&7 == 6 {
				link = fmt.Sprintf(`"continued_from":[%q]`, from)
				end = message("marker", fmt.Sprintf(`"type":"session_transition","previous_session":%q,"parent_id":%q`, from, other))
			}
			list = append(list, part{id: fmt.Sprint("p", i), metadata: link, messages: []string{message("h"+id, ""), end}})
			here = map[string]bool{}
		case 7: // a message of the first file, or its id with other content
			if k := int(b>>3) & 15; len(list) > 1 && k < len(first) {
				if b < 128 {
					add(first[k], list[0].messages[k])
				} else {
					add(first[k], message(first[k], `"other":true`))
				}
			}
		}
	}
	return decodeParts(t, list...)
}
