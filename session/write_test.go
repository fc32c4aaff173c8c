package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/bough-dev/bough/session"
)

// files are session files in memory, by id.
type files map[string]string

func (f files) open(id string) (io.ReadCloser, error) {
	content, ok := f[id]
	if !ok {
		return nil, session.ErrNotFound
	}
	return io.NopCloser(strings.NewReader(content)), nil
}

func (f files) outline(t *testing.T, id string) *session.Outline {
	t.Helper()
	o := new(session.Outline)
	if err := o.Decode(id, []byte(f[id])); err != nil {
		t.Fatal(err)
	}
	return o
}

func (f files) session(o *session.Outline) (*session.Session, error) {
	return o.Read(strings.NewReader(f[o.ID]))
}

// write writes a file with the method Write of a document or an edit.
func (f files) write(write func(interface {
	io.Writer
	io.WriterAt
}, func(string) (io.ReadCloser, error), func(done, total int64) error) (*session.Outline, error), watch func(done, total int64) error) (*session.Outline, error) {
	var out target
	o, err := write(&out, f.open, watch)
	if err == nil {
		f[o.ID] = out.String()
	}
	return o, err
}

// A target is a file in memory that is being written.
type target struct{ bytes.Buffer }

func (t *target) WriteAt(p []byte, at int64) (int, error) { return copy(t.Bytes()[at:], p), nil }

// TestWriteChanged: a file that changed after its outline was made is neither copied nor
// edited.
func TestWriteChanged(t *testing.T) {
	const content = `{"messages":[{"id":"a","x":1},{"id":"b"}],"tool_call_records":[1,2]}`
	for name, change := range map[string]func(f files){
		"unchanged": func(files) {},
		"a byte":    func(f files) { f["p"] = strings.Replace(content, "x", "y", 1) },
		"longer":    func(f files) { f["p"] = content + " " },
		"shorter":   func(f files) { f["p"] = content[:len(content)-1] },
		"missing":   func(f files) { delete(f, "p") },
	} {
		f := files{"p": content}
		p := f.outline(t, "p")
		change(f)
		want := name != "unchanged"
		d := &session.Document{ID: "q", Messages: []session.Run{{Part: p, From: 0, To: 1}}}
		edit, undo := p.Edit(), p.Edit()
		edit.SetActive("now")
		undo.Replace(strings.Index(content, "x"), strings.Index(content, "x")+1, []byte("z"))
		_, created := f.write(d.Write, nil)
		_, edited := f.write(edit.Write, nil)
		if !want {
			f["p"] = content
		}
		_, undone := f.write(undo.Write, nil)
		for what, err := range map[string]error{"Document.Write": created, "Edit.Write": edited, "Write of replaced bytes": undone} {
			if errors.Is(err, session.ErrChanged) != want || !want && err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		if !want && f["p"] != strings.Replace(content, "x", "z", 1) {
			t.Errorf("with replaced bytes the file is %s", f["p"])
		}
	}
}

// TestEach: Each reads the messages of a file, and none of a file that has changed.
func TestEach(t *testing.T) {
	f := files{"p": string(file("", m("a"), m("b")))}
	p := f.outline(t, "p")
	var got []string
	each := func(i int, m session.Message) error {
		got = append(got, fmt.Sprint(i, m.ID))
		return nil
	}
	if err := p.Each(strings.NewReader(f["p"]), each); err != nil || strings.Join(got, " ") != "0a 1b" {
		t.Errorf("the messages are %s, %v", got, err)
	}
	for _, content := range []string{f["p"] + " ", f["p"][:20], strings.Replace(f["p"], "messages", "massages", 1)} {
		if err := p.Each(strings.NewReader(content), each); !errors.Is(err, session.ErrChanged) {
			t.Errorf("of %s the error is %v", content, err)
		}
	}
	stop := errors.New("stop")
	if err := p.Each(strings.NewReader(f["p"]), func(int, session.Message) error { return stop }); err != stop {
		t.Errorf("stopped: %v", err)
	}
}
