package pack_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/testsize"
)

// rewrite returns the pack rewritten.
func rewrite(t testing.TB, p *pack.Pack, live func(int) bool, heal func(int) []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := p.Rewrite(&out, live, heal); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// holes returns items with holes in place of those that are not live.
func holes(items [][]byte, live func(int) bool) [][]byte {
	list := slices.Clone(items)
	for i := range list {
		if !live(i) {
			list[i] = []byte(pack.Hole)
		}
	}
	return list
}

// TestRewrite: a rewritten pack has the same items under the same numbers, or holes, and
// takes less space.
func TestRewrite(t *testing.T) {
	items := messages(3000, 1500)
	data := write(t, nil, true, items[:2000]...)
	for i := 2000; i < 3000; i += 20 {
		data = write(t, data, false, items[i:i+20]...)
	}
	for name, live := range map[string]func(int) bool{
		"all":      func(int) bool { return true },
		"none":     func(int) bool { return false },
		"few":      func(i int) bool { return i%7 == 0 },
		"begin":    func(i int) bool { return i < 1234 },
		"end":      func(i int) bool { return i >= 2345 },
		"but one":  func(i int) bool { return i != 600 },
		"one only": func(i int) bool { return i == 2999 },
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, data)
			want := holes(items, live)
			once := rewrite(t, p, live, nil)
			q := open(t, once)
			checkAll(t, q, want)
			if q.Raw() || q.Frames() > 5 || q.Size() >= p.Size()/2 {
				t.Errorf("the pack has %d bytes, %d before, in %d frames, raw: %v", q.Size(), p.Size(), q.Frames(), q.Raw())
			}
			for i, it := range q.Items() {
				if it.IsHole() == live(i) {
					t.Errorf("item %d is a hole: %v", i, it.IsHole())
				}
			}
			if twice := rewrite(t, q, nil, nil); !bytes.Equal(twice, once) {
				t.Errorf("rewritten twice it has %d bytes, once %d", len(twice), len(once))
			}
			checkAll(t, open(t, write(t, once, false, []byte("next"))), append(want, []byte("next")))
		})
	}
}

// TestHeal: a damaged frame, and one with a damaged header, are restored from items that
// the caller has.
func TestHeal(t *testing.T) {
	items := messages(12, 60)
	data := write(t, nil, false, items[:4]...)
	second := len(data)
	data = write(t, data, false, items[4:8]...)
	third := len(data)
	data = write(t, data, false, items[8:]...)
	all := func(int) bool { return true }
	for _, at := range []int{second + 30, third - 5} {
		broken := slices.Clone(data)
		broken[at] ^= 1
		p := open(t, broken)
		lost := p.Items()[5].Lost()
		if lost != (at == second+30) {
			t.Fatalf("with byte %d changed, item 5 is lost: %v", at, lost)
		}
		err := p.Rewrite(new(bytes.Buffer), all, nil)
		if damage, ok := errors.AsType[*pack.DamageError](err); !ok || damage.From != 4 || damage.To != 8 || damage.Name != "test.zst" {
			t.Errorf("Rewrite of a damaged pack returned %v", err)
		}
		checkAll(t, open(t, rewrite(t, p, all, func(i int) []byte { return items[i] })), items)
		err = p.Rewrite(new(bytes.Buffer), all, func(i int) []byte { return []byte("other") })
		if (err == nil) != lost {
			t.Errorf("Rewrite with wrong items returned %v", err)
		}
		some := func(i int) bool { return i < 4 || i > 7 }
		checkAll(t, open(t, rewrite(t, p, some, nil)), holes(items, some))
		one := func(i int) bool { return i != 6 }
		checkAll(t, open(t, rewrite(t, p, one, func(i int) []byte { return items[i] })), holes(items, one))
	}
}

// TestWriteErrors: an error of the file is returned, and an item that is too large adds
// nothing.
func TestWriteErrors(t *testing.T) {
	full, items := errors.New("full"), messages(4000, 3000)
	for _, room := range []int{0, 100, 300_000, 3_000_000} {
		w := pack.NewWriter(&limited{room, full}, 0, 0, true)
		var err error
		for _, item := range items {
			if err = w.Add(item); err != nil {
				break
			}
		}
		if flushed := w.Flush(); flushed != full || err != nil && err != full {
			t.Errorf("with space for %d bytes, Add returned %v and Flush %v", room, err, flushed)
		}
		if w.Bytes() != int64(room) {
			t.Errorf("with space for %d bytes, %d are counted", room, w.Bytes())
		}
	}
}

type limited struct {
	room int
	err  error
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.room {
		n := l.room
		l.room = 0
		return n, l.err
	}
	l.room -= len(p)
	return len(p), nil
}

// TestPrograms: zstd accepts packs and prints their items, and jq their messages.
func TestPrograms(t *testing.T) {
	for _, name := range []string{"zstd", "jq"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("the program %s is not installed", name)
		}
	}
	items := messages(testsize.Of(60, 150, 1500), 3000)
	items = append(items, append([]byte(`,"`), append(bytes.Repeat([]byte("large "), testsize.Of(1<<18, 1<<18, 1<<20)), '"')...))
	run := func(script, path string) []byte {
		t.Helper()
		cmd := exec.Command("sh", "-c", script, "sh", path)
		var talk strings.Builder
		cmd.Stderr = &talk
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, talk.String())
		}
		return out
	}
	half := len(items) / 2
	raw := write(t, nil, true, items...)
	some := func(i int) bool { return i%3 != 1 }
	for name, c := range map[string]struct {
		data []byte
		want [][]byte
	}{
		"raw":        {raw, items},
		"compressed": {write(t, nil, false, items...), items},
		"mixed":      {write(t, write(t, nil, true, items[:half]...), false, items[half:]...), items},
		"rewritten":  {rewrite(t, open(t, raw), some, nil), holes(items, some)},
	} {
		path := filepath.Join(t.TempDir(), "line.zst")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		run(`zstd -q -t "$1"`, path)
		if got := run(`zstd -dc "$1"`, path); !bytes.Equal(got, bytes.Join(c.want, nil)) {
			t.Errorf("%s: zstd prints %d bytes", name, len(got))
		}
		var got, want bytes.Buffer
		if err := json.Compact(&got, run(`(printf '[null'; zstd -dc "$1"; printf ']') | jq '.[1:]'`, path)); err != nil {
			t.Fatal(err)
		}
		text := append([]byte("["), bytes.Join(c.want, nil)[1:]...)
		if err := json.Compact(&want, append(text, ']')); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%s: jq prints other messages", name)
		}
		if name == "compressed" { // its frames have checksums of their own
			c.data[len(c.data)/2] ^= 1
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			if exec.Command("zstd", "-q", "-t", path).Run() == nil {
				t.Error("zstd accepts a damaged frame")
			}
		}
	}
}
