package workspace_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/trash"
)

type content = func(func() ([]lines.Node, error)) (lines.Content, error)

// says is the content of a text message.
func says(role, text string) content {
	return func(func() ([]lines.Node, error)) (lines.Content, error) {
		value, err := json.Marshal(text)
		return lines.Content{Role: role, Value: value}, err
	}
}

// attachment returns a file with a text.
func attachment(text string) lines.File {
	sum := sha256.Sum256([]byte(text))
	return lines.File{
		SHA256: hex.EncodeToString(sum[:]),
		Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
	}
}

// picture is the content of a message with the attachment "a picture".
func picture(func() ([]lines.Node, error)) (lines.Content, error) {
	parts := fmt.Sprintf(`[{"type":"image","asset":{"sha256":%q}}]`, attachment("a picture").SHA256)
	return lines.Content{Role: "user", Value: []byte(parts), Own: []lines.Member{{Name: "format", Value: []byte(`"acontext"`)}}}, nil
}

func (s *space) store(name, parent, text string) *lines.Node {
	s.t.Helper()
	n, err := s.Line(name).Store(s.t.Context(), lines.Message{Parent: parent, Content: says("user", text)})
	if err != nil {
		s.t.Fatalf("Store(%q under %q): %v", text, parent, err)
	}
	return n
}

// path returns the texts of the path to a message of a line.
func (s *space) path(name, leaf string) string {
	s.t.Helper()
	p, err := s.Line(name).Path(s.t.Context(), leaf, session.ReadOptions{})
	if err != nil {
		s.t.Fatalf("Path(%q, %q): %v", name, leaf, err)
	}
	var texts []string
	for i, n := range p.Nodes {
		if i > 0 && n.Parent != p.Nodes[i-1].UUID || i == 0 && n.Parent != "" {
			s.t.Errorf("the parent of %q is %q", n.Text(), n.Parent)
		}
		texts = append(texts, n.Text())
	}
	return strings.Join(texts, " ")
}

func TestStore(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 3)
	l, existed, err := s.NewLine(t.Context(), lines.Options{User: "ada", Configs: []byte(`{"model":"m"}`)})
	if err != nil || existed {
		t.Fatal(existed, err)
	}
	name := "urn:uuid:" + l.UUID
	var ids []string
	for _, text := range strings.Fields("a b c d e f g h") {
		n := s.store(name, "", text)
		if n.UUID != n.ID || n.Time.IsZero() {
			t.Errorf("the stored message is %+v", n)
		}
		ids = append(ids, "urn:uuid:"+n.UUID)
	}
	if got := s.path(name, ""); got != "a b c d e f g h" {
		t.Errorf("the path is %q", got)
	}
	before := s.files()
	x := s.store(name, ids[4], "x")
	for file, was := range before {
		if is := s.read(file); strings.HasPrefix(file, "conversations/session_2") && file != session.FileName(x.Session) && is != was {
			t.Errorf("%s changed", file)
		}
	}
	y := s.store(name, "", "y")
	if y.Parent != x.UUID {
		t.Errorf("a message without a parent follows %s, not %s", y.Parent, x.UUID)
	}
	for leaf, want := range map[string]string{ids[7]: "a b c d e f g h", "": "a b c d e x y", ids[2]: "a b c", "urn:uuid:" + x.UUID: "a b c d e x"} {
		if got := s.path(name, leaf); got != want {
			t.Errorf("the path to %q is %q, want %q", leaf, got, want)
		}
	}
	all, err := s.Line(name).All(t.Context(), session.ReadOptions{})
	if err != nil || len(all.Nodes) != 10 {
		t.Errorf("there are %d messages, %v", len(all.Nodes), err)
	}
	if h, err := s.Head(t.Context()); h != nil || err != nil {
		t.Errorf("the head is %v, %v", h, err)
	}
	healthy(t, s)
}

// TestStoreRefuses: invalid content is refused, and nothing is written.
func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root, other := s.new("Bread"), s.new("Soup")
	s.append(workspace.Append{Session: root, Text: "a"})
	foreign := s.append(workspace.Append{Session: other, Text: "b"}).Message
	point := s.checkpoint(root)
	before := s.files()
	const unknown = "urn:uuid:4f3c0a52-7d0e-4c5e-9d6b-0d2f3b1a9c77"
	for _, c := range []struct {
		what, name string
		store      lines.Message
		want       fault.Code
	}{
		{"an unknown session", unknown, lines.Message{Content: says("user", "x")}, fault.NotFound},
		{"an unknown parent", root, lines.Message{Parent: unknown, Content: says("user", "x")}, fault.NotFound},
		{"another session's parent", root, lines.Message{Parent: "urn:uuid:" + foreign, Content: says("user", "x")}, fault.NotFound},
		{"a piece of a UUID", root, lines.Message{Parent: "urn:uuid:", Content: says("user", "x")}, fault.NotFound},
		{"a checkpoint", point.ID, lines.Message{Content: says("user", "x")}, fault.ReadOnly},
		{"a role", root, lines.Message{Content: says("developer", "x")}, fault.Usage},
		{"meta that is a list", root, lines.Message{Content: says("user", "x"), Meta: []byte(`[]`)}, fault.Usage},
		{"meta that is NaN", root, lines.Message{Content: says("user", "x"), Meta: []byte(`{"a":NaN}`)}, fault.Usage},
		{"meta with a key twice", root, lines.Message{Content: says("user", "x"), Meta: []byte(`{"a":1,"a":2}`)}, fault.Usage},
		{"content that is not JSON", root, lines.Message{Content: func(func() ([]lines.Node, error)) (lines.Content, error) {
			return lines.Content{Role: "user", Value: []byte(`"a`)}, nil
		}}, fault.Usage},
		{"a name in use", root, lines.Message{Content: func(func() ([]lines.Node, error)) (lines.Content, error) {
			return lines.Content{Role: "user", Value: []byte(`"a"`), Own: []lines.Member{{Name: "meta", Value: []byte("1")}}}, nil
		}}, fault.Usage},
		{"an attachment by a path", root, lines.Message{Content: picture, Files: []lines.File{{SHA256: "../x"}}}, fault.Usage},
	} {
		if n, err := s.Line(c.name).Store(t.Context(), c.store); code(err) != c.want {
			t.Errorf("%s: stored %v, %v, want %s", c.what, n, err, c.want)
		}
	}
	sameFiles(t, "refused", before, s.files())
	liar := attachment("a picture")
	liar.Open = attachment("another").Open
	if _, err := s.Line(root).Store(t.Context(), lines.Message{Content: picture, Files: []lines.File{liar}}); code(err) != fault.Usage {
		t.Errorf("an attachment with another SHA-256: %v", err)
	}
	if files, err := os.ReadDir(filepath.Join(s.Dir(), "files")); err != nil || len(files) > 0 {
		t.Errorf("files holds %v, %v", files, err)
	}
}

func TestAttachment(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("Bread")
	for range 2 {
		if _, err := s.Line(root).Store(t.Context(), lines.Message{Content: picture, Files: []lines.File{attachment("a picture")}}); err != nil {
			t.Fatal(err)
		}
	}
	sum := attachment("a picture").SHA256
	f, err := s.OpenFile(t.Context(), sum)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil || string(data) != "a picture" {
		t.Errorf("the attachment is %q, %v", data, err)
	}
	info, err := f.Stat()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the attachment has the mode %v, %v", info.Mode(), err)
	}
	for _, bad := range []string{"", "../head.json", strings.ToUpper(sum), sum[1:] + "0"} {
		if _, err := s.OpenFile(t.Context(), bad); code(err) != fault.NotFound {
			t.Errorf("OpenFile(%q) = %v", bad, err)
		}
	}
}

// TestAttachmentDamaged holds that a damaged attachment is not used: the next message with
// the attachment replaces it.
func TestAttachmentDamaged(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("Bread")
	file := attachment("a picture")
	name := filepath.Join(s.Dir(), filepath.FromSlash(lines.FilePath(file.SHA256)))
	for what, put := range map[string]func() error{
		"the beginning of it": func() error { return os.WriteFile(name, []byte("a pic"), 0o600) },
		"a folder":            func() error { return os.Mkdir(name, 0o700) },
		"a link":              func() error { return os.Symlink(t.TempDir(), name) },
	} {
		if err := cmp.Or(os.RemoveAll(name), os.MkdirAll(filepath.Dir(name), 0o700), put()); err != nil {
			t.Fatal(err)
		}
		if f, err := s.OpenFile(t.Context(), file.SHA256); err == nil && what != "the beginning of it" {
			f.Close()
			t.Errorf("%s is an attachment", what)
		}
		if _, err := s.Line(root).Store(t.Context(), lines.Message{Content: picture, Files: []lines.File{file}}); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if data, err := os.ReadFile(name); err != nil || string(data) != "a picture" {
			t.Errorf("after %s the attachment is %q, %v", what, data, err)
		}
		healthy(t, s)
	}
}

func TestSetMessageMeta(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("Bread")
	ids := s.say("a", "b", "c")
	s.messages("odd", "", `{"id":"m1","content":"x","metadata":"text"}`, `{"id":"m2","content":"y"}`, `{"id":"m3","metadata":{"k":1e400,"bough":{"z":NaN}}}`)
	set := func(name, message, meta string) (string, error) {
		all, err := s.Line(name).SetMeta(t.Context(), message, []byte(meta))
		return string(all), err
	}
	for _, c := range []struct{ name, message, meta, want string }{
		{root, ids[0], `{"a":1,"b":{"c":[12345678901234567890]}}`, `{"a":1,"b":{"c":[12345678901234567890]}}`},
		{root, ids[0], `{"a":null,"d":"é","e":null}`, `{"b":{"c":[12345678901234567890]},"d":"é"}`},
		{root, ids[2], `{}`, `{}`},
		{"odd", "m2", `{"a":1}`, `{"a":1}`},
		{"odd", "m3", `{"a":1}`, `{"a":1}`},
	} {
		got, err := set(c.name, c.message, c.meta)
		var a, b any
		if err != nil || json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal([]byte(c.want), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s of %s: %s, %v, want %s", c.meta, c.message, got, err, c.want)
		}
		p, err := s.Line(c.name).Path(t.Context(), c.message, session.ReadOptions{})
		if err != nil || string(p.Nodes[len(p.Nodes)-1].Meta) == "" {
			t.Errorf("%s has no meta: %v", c.message, err)
		}
	}
	if raw := string(s.session("odd").Messages[2].Raw); !strings.Contains(raw, "1e400") || !strings.Contains(raw, "NaN") {
		t.Errorf("the message became %s", raw)
	}
	if s.texts(root) != "a b c" {
		t.Errorf("the texts are %q", s.texts(root))
	}
	if _, err := set("odd", "m1", `{"a":1}`); code(err) != fault.Refused {
		t.Errorf("metadata that is a string: %v", err)
	}
	large := `{"` + ids[0] + `":"` + strings.Repeat("long ", 200_000) + `"}`
	if _, err := set(root, ids[0], large); err != nil {
		t.Error(err)
	}
	if _, err := set(root, ids[0], strings.Replace(large, ids[0], "more", 1)); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("2 MB in all: %v", err)
	}
	point := s.checkpoint(root)
	for _, c := range []struct {
		name, message, meta string
		want                fault.Code
	}{
		{point.ID, ids[0], `{"a":1}`, fault.ReadOnly},
		{root, "nobody", `{"a":1}`, fault.NotFound},
		{root, ids[0], `"a"`, fault.Usage},
	} {
		if _, err := set(c.name, c.message, c.meta); code(err) != c.want {
			t.Errorf("%s of %s: %v, want %s", c.meta, c.message, err, c.want)
		}
	}
	healthy(t, s)
}

// TestContentPath: a callback that makes the content of a message gets the message's
// own path and no other message.
func TestContentPath(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("Bread")
	ids := s.say("a", "b", "c")
	var seen []string
	_, err := s.Line(root).Store(t.Context(), lines.Message{Parent: ids[1], Content: func(path func() ([]lines.Node, error)) (lines.Content, error) {
		nodes, err := path()
		for _, n := range nodes {
			seen = append(seen, n.Text())
		}
		return lines.Content{Role: "tool", Value: []byte(`"ok"`)}, err
	}})
	if err != nil || !slices.Equal(seen, []string{"a", "b"}) {
		t.Errorf("saw %q, %v", seen, err)
	}
}

// TestUndoMeta: undo of a metadata change does not move a head at that message, and the log
// names the message by its id.
func TestUndoMeta(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("Bread")
	ids := s.say("a", "b")
	for _, name := range []string{ids[1], "urn:uuid:" + ids[1], ids[1][:8]} {
		if _, err := s.Line("urn:uuid:"+sessionid.UUID(root)).SetMeta(t.Context(), name, []byte(`{"a":1}`)); err != nil {
			t.Fatal(err)
		}
		log, err := s.Log(t.Context(), history.LogOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if a := log.Operations[0].Args; a["session"] != root || a["message"] != ids[1] {
			t.Errorf("the log says %v", a)
		}
		if _, err := s.undo(""); err != nil {
			t.Fatal(err)
		}
		if a := s.append(workspace.Append{Text: "c"}); a.Session != root || string(a.Parent) != ids[1] {
			t.Errorf("the next message went below %s in %s", a.Parent, a.Session)
		}
		if _, err := s.undo(""); err != nil {
			t.Fatal(err)
		}
	}
	healthy(t, s)
}

// TestPurgeAttachments: a purge deletes an attachment together with the last message that
// refers to it, and not before.
func TestPurgeAttachments(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	file := filepath.Join(s.Dir(), lines.FilePath(attachment("a picture").SHA256))
	var ids []string
	for _, title := range []string{"Bread", "Soup"} {
		ids = append(ids, s.new(title))
		if _, err := s.Line(title).Store(t.Context(), lines.Message{Content: picture, Files: []lines.File{attachment("a picture")}}); err != nil {
			t.Fatal(err)
		}
	}
	purge := func() (files []string) {
		purged, err := s.PurgeTrash(t.Context(), trash.PurgeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range purged.Files {
			files = append(files, f.File)
		}
		return files
	}
	for i, want := range []bool{true, false} {
		if _, err := s.Remove(t.Context(), ids[i], workspace.RemoveOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(file); err != nil {
			t.Errorf("the attachment of a message in the trash is gone: %v", err)
		}
		files := purge()
		_, err := os.Stat(file)
		if (err == nil) != want || slices.Contains(files, lines.FilePath(attachment("a picture").SHA256)) == want {
			t.Errorf("after purge %d: %v, %q", i, err, files)
		}
	}
	healthy(t, s)
}
