package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
)

// A blockDisk holds session files in memory, which share blocks. Its fields are the number
// of shared bytes of the last file, and errors to return.
type blockDisk struct {
	files
	t      *testing.T
	block  int
	shared int
	err    error
	during func() // called before blocks are shared
}

type blockFile struct {
	target
	d *blockDisk
}

func (f *blockFile) Clone(in io.ReaderAt, from, n int64) error {
	f.d.t.Helper()
	if block := int64(f.d.block); from%block != 0 || int64(f.Len())%block != 0 || n%block != 0 || n <= 0 {
		f.d.t.Errorf("%d bytes from %d are shared at %d", n, from, f.Len())
	}
	if f.d.during != nil {
		f.d.during()
	}
	f.d.shared += int(n)
	copied, err := io.Copy(f, io.NewSectionReader(in, from, n))
	if err == nil && copied < n {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, f.d.err)
}

// A reader is a file of a blockDisk. Like a file of an operating system, it has the content
// of the moment of each read.
type reader struct {
	*io.SectionReader
	d  *blockDisk
	id string
}

func (r reader) ReaderAt() io.ReaderAt { return r }
func (r reader) Close() error          { return nil }
func (r reader) ReadAt(p []byte, at int64) (int, error) {
	return strings.NewReader(r.d.files[r.id]).ReadAt(p, at)
}

func (d *blockDisk) open(id string) (io.ReadCloser, error) {
	if _, ok := d.files[id]; !ok {
		return nil, session.ErrNotFound
	}
	r := reader{d: d, id: id}
	r.SectionReader = io.NewSectionReader(r, 0, 1<<40)
	return r, nil
}

// write writes a file with the method Write of a document or an edit.
func (d *blockDisk) write(write func(interface {
	io.Writer
	io.WriterAt
}, func(string) (io.ReadCloser, error), func(done, total int64) error) (*session.Outline, error)) (*session.Outline, error) {
	d.shared = 0
	out := &blockFile{d: d}
	o, err := write(out, d.open, nil)
	if err == nil {
		d.files[o.ID] = out.String()
	}
	return o, err
}

// sealing is the metadata of a checkpoint of n messages.
func sealing(n int) session.Metadata {
	return session.MetadataOf([]rawjson.Pair{
		{Key: "flattened_snapshot", Value: []byte("true")},
		{Key: "bough", Value: fmt.Appendf(nil, `{"kind":"checkpoint","sealed":{"messages":%d,"crc32c":%q}}`, n, session.SealPlaceholder)},
	}...)
}

// rawsOf returns the messages of a session.
func rawsOf(s *session.Session) (list []string) {
	for _, m := range s.Messages {
		list = append(list, string(m.Raw))
	}
	return list
}

// TestSharedBlocks: documents and edits share blocks with the files of their messages. The
// white space for that changes nothing else, their outlines are right, and the sealed
// checkpoint fits its seal.
func TestSharedBlocks(t *testing.T) {
	f := files{}
	chat := testchat.Chat{Messages: 120, PerFile: 50, Text: 60, Odd: true}.Files()
	for _, file := range chat {
		f[file.ID] = string(file.Data)
	}
	var runs []session.Run
	var want []string
	n, size := 0, 0
	for _, file := range chat[:2] { // the last one is shorter
		id := file.ID
		o := f.outline(t, id)
		runs = append(runs, session.Run{Part: o, From: 2, To: 40}, session.Run{Part: o, From: 41, To: 41 + 1}, session.Run{Raw: []byte(m("x" + id))})
		s := decode(t, id, []byte(f[id]))
		want = append(want, slices.Concat(rawsOf(s)[2:40], rawsOf(s)[41:42], []string{m("x" + id)})...)
		n, size = n+40, size+len(f[id])
	}
	for _, block := range []int{1, 8, 32, 64, 128} {
		d := &blockDisk{files: f, t: t, block: block}
		o, err := d.write((&session.Document{ID: "q", Messages: runs, Metadata: sealing(n), Block: block}).Write)
		if err != nil {
			t.Fatal(err)
		}
		wantPlanned(t, f, o)
		q := decode(t, "q", []byte(f["q"]))
		if !q.FitsSeal || !slices.Equal(rawsOf(q), want) {
			t.Errorf("block %d: fits its seal: %v, and has the messages %q, want %q", block, q.FitsSeal, rawsOf(q), want)
		}
		if d.shared < len(f["q"])/3 {
			t.Errorf("block %d: %d of %d bytes are shared", block, d.shared, len(f["q"]))
		}
		if bytes.Contains([]byte(f["q"]), []byte("\n   \n")) {
			t.Errorf("block %d: white space on a line of its own in %s", block, f["q"])
		}
		whole := rawsOf(q)
		for i, change := range []func(*session.Edit){
			func(e *session.Edit) { e.SetMeta("title", "A title") },
			func(e *session.Edit) { e.Append([]byte(m("n"))); e.Append([]byte(under("n", "o"))) },
			func(e *session.Edit) { e.SetActive("now"); e.Append([]byte(m("p"))) },
			func(e *session.Edit) { e.SetMeta("title", "A much longer title than the one before"); e.SetActive("") },
			func(e *session.Edit) { e.DeleteMeta("title") },
			func(e *session.Edit) { e.SetMeta("title", "T"); e.ReplaceMessage(len(whole)-1, []byte(m("p2"))) },
		} {
			before := decode(t, "q", []byte(f["q"]))
			change2 := f.outline(t, "q").Edit()
			change2.Align(block)
			change(change2)
			want, err := change2.Bytes(f.session)
			if err != nil {
				t.Fatal(err)
			}
			edit := f.outline(t, "q").Edit()
			edit.Align(block)
			change(edit)
			o, err := d.write(edit.Write)
			if err != nil {
				t.Fatal(err)
			}
			wantPlanned(t, f, o)
			if f["q"] != string(want) {
				t.Errorf("block %d, edit %d: the file is %s, want %s", block, i, f["q"], want)
			}
			if d.shared < len(f["q"])/3 {
				t.Errorf("block %d, edit %d: %d of %d bytes are shared", block, i, d.shared, len(f["q"]))
			}
			after := decode(t, "q", []byte(f["q"]))
			whole = rawsOf(after)
			if kept := min(len(before.Messages), len(whole)) - 1; !slices.Equal(rawsOf(before)[:kept], whole[:kept]) {
				t.Errorf("block %d, edit %d: the messages changed", block, i)
			}
			if i < 5 && after.Offset(0)%block != before.Offset(0)%block {
				t.Errorf("block %d, edit %d: the messages moved from %d to %d", block, i, before.Offset(0), after.Offset(0))
			}
		}
		delete(f, "q")
	}
}

// TestAlignShrinks: white space does not accumulate, and an edit without a block, or of
// exact bytes, adds none.
func TestAlignShrinks(t *testing.T) {
	const block = 64
	var list []string
	for i := range 60 {
		list = append(list, m(fmt.Sprint("a", i)))
	}
	f := files{"p": string(file(`"title":"T"`, list...))}
	size := len(f["p"])
	d := &blockDisk{files: f, t: t, block: block}
	for i := range 100 {
		edit := f.outline(t, "p").Edit()
		edit.Align(block)
		edit.SetMeta("title", strings.Repeat("x", i*7%50))
		if _, err := d.write(edit.Write); err != nil {
			t.Fatal(err)
		}
		if d.shared == 0 {
			t.Fatalf("edit %d shares nothing", i)
		}
		if grown := len(f["p"]) - size; grown > 50+2*block {
			t.Fatalf("after %d edits the file has %d bytes more", i, grown)
		}
	}
	for name, change := range map[string]func(*session.Edit){
		"no block": func(e *session.Edit) { e.Align(0); e.SetMeta("title", "12345") },
		"exactly":  func(e *session.Edit) { e.Align(block); e.Replace(1, 1, []byte(" \t")) },
	} {
		before := decode(t, "p", []byte(f["p"]))
		edit := f.outline(t, "p").Edit()
		change(edit)
		splices := 0
		err := edit.Changes(func(int, int, []byte) error { splices++; return nil })
		if err != nil || splices != 1 {
			t.Errorf("%s: %d changes, %v", name, splices, err)
		}
		if _, err := d.write(edit.Write); err != nil {
			t.Fatal(err)
		}
		if after := decode(t, "p", []byte(f["p"])); !slices.Equal(rawsOf(before), rawsOf(after)) {
			t.Errorf("%s: the messages changed", name)
		}
	}
}

// TestSharedChanged: a file that another program changes before its blocks are shared, or
// while that happens, is detected, and an error of sharing is returned.
func TestSharedChanged(t *testing.T) {
	var list []string
	for i := range 60 {
		list = append(list, m(fmt.Sprint("a", i)))
	}
	content := string(file(`"title":"T"`, list...))
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		during func(f files)
		err    error
		want   error
	}{
		"unchanged": {},
		"a byte":    {during: func(f files) { f["p"] = strings.Replace(content, `"a30"`, `"b30"`, 1) }, want: session.ErrChanged},
		"longer":    {during: func(f files) { f["p"] = content + " " }, want: session.ErrChanged},
		"shorter":   {during: func(f files) { f["p"] = content[:len(content)/2] }, want: session.ErrChanged},
		"broken":    {err: broken, want: broken},
	} {
		f := files{"p": content}
		d := &blockDisk{files: f, t: t, block: 8, err: c.err}
		if c.during != nil {
			d.during = func() { c.during(f) }
		}
		p := f.outline(t, "p")
		edit := p.Edit()
		edit.Align(8)
		edit.SetActive("now")
		_, created := d.write((&session.Document{ID: "q", Messages: []session.Run{{Part: p, To: 60}}, Block: 8}).Write)
		f["p"] = content
		_, edited := d.write(edit.Write)
		for what, err := range map[string]error{"Document.Write": created, "Edit.Write": edited} {
			if !errors.Is(err, c.want) || c.want == nil && (err != nil || d.shared == 0) {
				t.Errorf("%s, %s: %v with %d bytes shared, want %v", name, what, err, d.shared, c.want)
			}
		}
	}
}
