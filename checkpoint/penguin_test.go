package checkpoint_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
)

func pack(t *testing.T, data string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// penguins creates a workspace with files in the folder checkpoints.
func penguins(t *testing.T, files map[string][]byte) *os.Root {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "checkpoints"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, "checkpoints", name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func metaOf(kind, name, session, at string, auto bool) string {
	return fmt.Sprintf(`{"type":%q,"name":%q,"session_id":%q,"message_id":"m1","message_count":7,"created_at":%q,"auto":%v,"parent_checkpoint":null}`, kind, name, session, at, auto)
}

// list returns one line for each result of ListPenguin, and the errors.
func list(root *os.Root) (string, []error) {
	var all []string
	var damaged []error
	cps, err := checkpoint.ListPenguin(root)
	if err != nil {
		return "", []error{err}
	}
	for _, cp := range cps {
		if cp.Err != nil {
			damaged = append(damaged, cp.Err)
			continue
		}
		all = append(all, fmt.Sprintf("%s %s %q of %s@%s (%d) %v %v", cp.ID, cp.Type, cp.Name, cp.Session, cp.Message, cp.MessageCount, cp.Auto, cp.CreatedAt.UTC().Format(time.DateTime)))
	}
	return strings.Join(all, "\n"), damaged
}

func TestListPenguin(t *testing.T) {
	manual, auto := metaOf("manual", "Before", "s1", "2026-05-25T15:32:00Z", false), metaOf("auto", "", "s2", "2026-05-25T15:31:00Z", true)
	session := `{"messages":[{"id":"m1"}]}`
	files := map[string][]byte{
		"cp_1.json.gz":     pack(t, `{"metadata":`+manual+`,"session":`+session+`}`),
		"cp_2.json.gz":     pack(t, `{"metadata":`+auto+`,"session":`+session+`}`),
		"other.json.gz":    pack(t, `{}`),
		"cp_a.b.json.gz":   pack(t, `{}`),
		"cp_3.json":        []byte(`{}`),
		"cp_1.json.gz.bak": nil,
	}
	const want = `cp_2 auto "" of s2@m1 (7) true 2026-05-25 15:31:00
cp_1 manual "Before" of s1@m1 (7) false 2026-05-25 15:32:00`
	for name, index := range map[string]string{
		"whole":        `{"cp_1":` + manual + `,"cp_2":` + auto + `,"cp_9":{}}`,
		"short":        `{"cp_1":` + manual + `}`,
		"empty":        `{}`,
		"torn":         `{"cp_1":` + metaOf("auto", "Wrong", "s9", "2020-01-01T00:00:00Z", true) + `,"cp_2":{`,
		"no object":    `[1]`,
		"odd entries":  `{"cp_1":7,"cp_2":null}`,
		"missing":      "",
		"invalid UTF8": "{\"cp_1\":\"\xff\"}",
	} {
		delete(files, "checkpoint_index.json")
		if index != "" {
			files["checkpoint_index.json"] = []byte(index)
		}
		if got, damaged := list(penguins(t, files)); got != want || len(damaged) != 0 {
			t.Errorf("with an index that is %s the checkpoints are\n%s\n%v, want\n%s", name, got, damaged, want)
		}
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if got, damaged := list(root); got != "" || damaged != nil {
		t.Errorf("a workspace without checkpoints has %q, %v", got, damaged)
	}
}

func TestReadPenguin(t *testing.T) {
	const content = `{"id":"s2","metadata":{"continued_from":"s1","n":NaN},"messages":[{"id":"h"},{"id":"k","metadata":{"type":"session_transition","previous_session":"s1"}},{"id":"m1","x":1.0}]}`
	root := penguins(t, map[string][]byte{
		"cp_auto.json.gz":   pack(t, `{ "metadata": `+metaOf("auto", "", "s2", "2026-05-25T15:31:00Z", true)+`, "session": `+content+` }`),
		"cp_manual.json.gz": pack(t, `{"session":{"metadata":{"branched_from":"s2","lineage":["s1","s2"],"flattened_snapshot":true},"messages":[{"id":"m1"}]}}`),
	})
	s, err := checkpoint.ReadPenguin(root, "cp_auto")
	if err != nil {
		t.Fatal(err)
	}
	if s.ID != "cp_auto" || s.Meta.Kind() != session.Continuation || s.Meta.Origin() != "s1" || s.Header != 2 || string(s.Messages[2].Raw) != `{"id":"m1","x":1.0}` {
		t.Errorf("the automatic checkpoint is %s, a %s of %q: %s", s.ID, s.Meta.Kind(), s.Meta.Origin(), idsOf(s.Messages))
	}
	if s, err := checkpoint.ReadPenguin(root, "cp_manual"); err != nil || !s.Meta.Snapshot || s.Header != 0 {
		t.Errorf("the manual checkpoint is %+v, %v", s, err)
	}
	for _, id := range []string{"cp_none", "session_1", "", "cp_../cp_auto", "cp_auto.json", "../checkpoints/cp_auto"} {
		if _, err := checkpoint.ReadPenguin(root, id); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("ReadPenguin(%q) = %v, want ErrNotFound", id, err)
		}
	}
}

func TestDamagedPenguin(t *testing.T) {
	whole := pack(t, `{"metadata":{},"session":{"messages":[]}}`)
	long := pack(t, `{"session":{"messages":[]},"x":"`+strings.Repeat("a", 1<<16)+`"}`)
	files := map[string]struct {
		data    []byte
		offset  int // -1 for any
		problem string
	}{
		"cp_empty":     {nil, 0, "EOF"},
		"cp_plain":     {[]byte(`{"session":{"messages":[]}}`), 0, "gzip"},
		"cp_cut":       {whole[:len(whole)-9], -1, "EOF"},
		"cp_cutlate":   {long[:len(long)-4], -1, "EOF"},
		"cp_checksum":  {append(bytes.Clone(whole[:len(whole)-8]), 1, 2, 3, 4, 5, 6, 7, 8), -1, "checksum"},
		"cp_torn":      {pack(t, `{"session":{"messages":[]}`), 26, "ends in the middle"},
		"cp_utf8":      {pack(t, "{\"session\":\"\xff\"}"), 12, "UTF-8"},
		"cp_nothing":   {pack(t, `{"metadata":{}}`), 0, "no session"},
		"cp_array":     {pack(t, `{"session":[]}`), 0, "no session"},
		"cp_top":       {pack(t, `[]`), 0, "no session"},
		"cp_nomessage": {pack(t, `{"session": {"messages":7}}`), 24, "no messages"},
		"cp_twice":     {pack(t, `{"session":{"messages":[{"id":"a"},{"id":"a"}]}}`), 35, "duplicate message id"},
	}
	packed := map[string][]byte{}
	for id, c := range files {
		packed[id+".json.gz"] = c.data
	}
	packed["cp_fine.json.gz"] = pack(t, `{"metadata":`+metaOf("manual", "Fine", "s", "2026-05-25T15:31:00Z", false)+`,"session":{"messages":[]}}`)
	root := penguins(t, packed)
	for id, c := range files {
		_, err := checkpoint.ReadPenguin(root, id)
		var damage *session.DamageError
		if !errors.As(err, &damage) || damage.Path != "checkpoints/"+id+".json.gz" {
			t.Errorf("ReadPenguin(%q) = %v, want a *DamageError with its path", id, err)
			continue
		}
		if c.offset >= 0 && damage.Offset != c.offset || !strings.Contains(damage.Problem, c.problem) {
			t.Errorf("ReadPenguin(%q) = %v, want byte %d: %s", id, err, c.offset, c.problem)
		}
	}
	got, damaged := list(root)
	if !strings.Contains(got, `cp_fine manual "Fine" of s@m1`) || len(damaged) != 7 {
		t.Errorf("the checkpoints are\n%s\n%d damaged: %v", got, len(damaged), damaged)
	}
	for _, err := range damaged {
		var damage *session.DamageError
		if !errors.As(err, &damage) {
			t.Errorf("%v is no *DamageError", err)
		}
	}
}

func TestPenguinLinkOut(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "cp.json.gz")
	if err := os.WriteFile(outside, pack(t, `{"metadata":{},"session":{"messages":[]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	root := penguins(t, nil)
	if err := os.Symlink(outside, filepath.Join(root.Name(), "checkpoints", "cp_link.json.gz")); err != nil {
		t.Fatal(err)
	}
	if _, err := checkpoint.ReadPenguin(root, "cp_link"); err == nil {
		t.Error("a link that leads out of the workspace is followed")
	}
	if got, damaged := list(root); got != "" || len(damaged) != 1 {
		t.Errorf("the checkpoints are %q, %v", got, damaged)
	}
}
