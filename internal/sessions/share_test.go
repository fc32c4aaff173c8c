package sessions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// TestAlign: where files share blocks, a long run of messages keeps its offset in a block;
// elsewhere, and in a small file, nothing is added.
func TestAlign(t *testing.T) {
	const block = 4096
	for _, c := range []struct {
		block, messages int
		aligned         bool
	}{{block, 3000, true}, {0, 3000, false}, {block, 30, false}} {
		var list []string
		for i := range c.messages {
			list = append(list, message(fmt.Sprint("m", i), ""))
		}
		restore := durable.AssumeBlockSize(c.block)
		f, dir := folder(t, map[string]string{"conversations/p.json": file(list...)})
		p := outline(t, f, "p")
		d := &session.Document{ID: "q", Messages: []session.Run{{Part: p, To: c.messages}}}
		plain, err := d.Bytes(f.Open)
		if err != nil {
			t.Fatal(err)
		}
		q, err := create(f, dir, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		edit := p.Edit()
		edit.SetMeta("title", strings.Repeat("x", 100))
		p2, err := replace(f, dir, edit, nil)
		if err != nil {
			t.Fatal(err)
		}
		for what, o := range map[string]*session.Outline{"document": q, "edit": p2} {
			if is := (o.Offset(0)-p.Offset(0))%block == 0; is != c.aligned {
				t.Errorf("%+v: the %s has its messages at %d, the source at %d", c, what, o.Offset(0), p.Offset(0))
			}
		}
		if d.Block != 0 {
			t.Error("the document is modified")
		}
		if grown := q.Size() - len(plain); grown < 0 || grown >= block || grown > 0 != c.aligned {
			t.Errorf("%+v: %d bytes are added", c, grown)
		}
		restore()
	}
}

// TestEncodeWritten: the outline of a checkpoint that shares its blocks is not cached, that
// of any other session is.
func TestEncodeWritten(t *testing.T) {
	var list []string
	for i := range 3000 {
		list = append(list, message(fmt.Sprint("m", i), ""))
	}
	const checkpoint = `{"metadata":{"flattened_snapshot":true,"bough":{"kind":"checkpoint"}},"messages":[`
	for _, block := range []int{0, 4096} {
		restore := durable.AssumeBlockSize(block)
		f, _ := folder(t, map[string]string{"conversations/a.json": file(list...), "conversations/c.json": checkpoint + strings.Join(list, ",") + "]}"})
		for id, want := range map[string]bool{"a": true, "c": block == 0} {
			o := outline(t, f, id)
			if got := f.EncodeWritten(o) != nil; got != want || sessions.Encode(o) == nil {
				t.Errorf("with blocks of %d bytes %s is cached: %v", block, id, got)
			}
		}
		restore()
	}
}
