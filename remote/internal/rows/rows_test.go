package rows

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace/fault"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

func openIn(t testing.TB, root *os.Root) *Rows {
	t.Helper()
	r, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	r.maxLog = 2 << 10
	return r
}

func rootOf(t testing.TB, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// change makes random changes to rows and to what they must be.
func change(random *rand.Rand, r *Rows, want map[string]string) {
	for range 1 + random.IntN(20) {
		key := fmt.Sprintf("%c\x01%03d", 'a'+random.IntN(3), random.IntN(200))
		if random.IntN(3) == 0 {
			r.Put(key, nil)
			delete(want, key)
			continue
		}
		value := strings.Repeat(fmt.Sprint(random.IntN(10)), random.IntN(40))
		if random.IntN(50) == 0 {
			value = strings.Repeat("long", 10_000)
		}
		r.Put(key, []byte(value))
		want[key] = value
	}
}

func collect(list iter.Seq2[string, []byte]) (keys []string, rows map[string]string) {
	rows = map[string]string{}
	for key, value := range list {
		keys = append(keys, key)
		rows[key] = string(value)
	}
	return keys, rows
}

// check compares all rows.
func check(t testing.TB, r *Rows, want map[string]string) {
	t.Helper()
	for _, prefix := range []string{"", "b", "b\x01", "b\x0111", "z"} {
		some := maps.Clone(want)
		maps.DeleteFunc(some, func(key, _ string) bool { return !strings.HasPrefix(key, prefix) })
		keys, got := collect(r.Scan(prefix))
		if !maps.Equal(got, some) || !slices.IsSorted(keys) || len(keys) != len(some) {
			t.Fatalf("with %q there are %d rows in %d keys, want %d", prefix, len(got), len(keys), len(some))
		}
	}
	for i := range 600 {
		key := fmt.Sprintf("%c\x01%03d", 'a'+i/200, i%200)
		value, ok := want[key]
		if got := r.Get(key); (got != nil) != ok || string(got) != value {
			t.Fatalf("%q is %q, want %q", key, got, value)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
}

// TestModel: rows are as in a map, before and after commits, and when they are opened again.
func TestModel(t *testing.T) {
	for seed := range uint64(testsize.Of(1, 2, 8)) {
		random := rand.New(rand.NewPCG(seed, 1))
		root := rootOf(t, t.TempDir())
		r, want, stored := openIn(t, root), map[string]string{}, map[string]string{}
		for range 60 {
			change(random, r, want)
			switch random.IntN(6) {
			case 0:
				check(t, r, want)
			case 1: // uncommitted rows are lost
				r.Close()
				r, want = openIn(t, root), maps.Clone(stored)
			default:
				commit := r.Commit
				if random.IntN(20) == 0 {
					commit = r.Erase
				}
				if err := commit(); err != nil {
					t.Fatal(err)
				}
				stored = maps.Clone(want)
			}
		}
		check(t, r, want)
		if len(r.runs) > 8 {
			t.Errorf("there are %d runs", len(r.runs))
		}
		r.Close()
	}
}

var errDead = errors.New("the process is dead")

// TestDeath: a process that dies at any step leaves the rows of a commit, and the next one continues.
func TestDeath(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	root := rootOf(t, t.TempDir())
	r, want := openIn(t, root), map[string]string{}
	die := -1
	restore := durable.Interpose(func(o *os.Root, _ durable.Step) error {
		if o.Name() != root.Name() || die < 0 {
			return nil
		}
		if die--; die < 0 {
			die = 0
			return errDead
		}
		return nil
	})
	defer restore()
	deaths := 0
	for range testsize.Of(30, 50, 300) {
		before := maps.Clone(want)
		change(random, r, want)
		die = random.IntN(12)
		err := r.Commit()
		die = -1
		r.Close()
		r = openIn(t, root)
		if err != nil {
			deaths++
			if _, got := collect(r.Scan("")); maps.Equal(got, before) {
				want = before
			}
		}
		check(t, r, want)
	}
	r.Close()
	if deaths < 5 {
		t.Errorf("it died %d times", deaths)
	}
}

// TestErase: what was deleted is in no file.
func TestErase(t *testing.T) {
	root := rootOf(t, t.TempDir())
	r := openIn(t, root)
	defer r.Close()
	for i := range 200 {
		r.Put(fmt.Sprint("k", i), []byte("a secret that is to go, and that is long"))
		if err := r.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 {
		r.Put(fmt.Sprint("k", i), nil)
	}
	if err := r.Erase(); err != nil {
		t.Fatal(err)
	}
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root.FS(), name)
		if strings.Contains(string(data), "secret") {
			t.Errorf("%s still has it", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDamage: a changed byte is an error or leaves the rows of an earlier commit, and never others.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	r := openIn(t, rootOf(t, dir))
	for i := range 300 {
		r.Put(fmt.Sprintf("k%03d", i%150), fmt.Appendf(nil, "%d", i))
		if err := r.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	random := rand.New(rand.NewPCG(2, 2))
	for range testsize.Of(20, 60, 1000) {
		other := t.TempDir()
		if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(other)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(other, entries[random.IntN(len(entries))].Name())
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data[random.IntN(len(data))] ^= byte(1 + random.IntN(255))
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		root := rootOf(t, other)
		r, err := Open(root)
		if err == nil {
			for key, value := range r.Scan("") {
				var n int
				fmt.Sscan(string(value), &n)
				if key != fmt.Sprintf("k%03d", n%150) {
					t.Fatalf("%s changed: %q is %q", name, key, value)
				}
			}
			err = r.Err()
			r.Close()
		}
		if err != nil && !errors.Is(err, fault.Damaged) {
			t.Fatalf("%s changed: %v", name, err)
		}
		if err := Reset(root); err != nil {
			t.Fatal(err)
		}
		if r, err = Open(root); err != nil {
			t.Fatal(err)
		}
		if keys, _ := collect(r.Scan("")); len(keys) > 0 {
			t.Fatalf("there are %d rows after a reset", len(keys))
		}
		r.Close()
	}
}

// TestLookUp: one row is found with reads that hardly grow with the number of rows.
func TestLookUp(t *testing.T) {
	for _, n := range testsize.Of([]int{1000}, []int{1000, 10_000}, []int{1000, 100_000}) {
		root := rootOf(t, t.TempDir())
		r := openIn(t, root)
		for i := range n {
			r.Put(fmt.Sprintf("key%08d", i), []byte(strings.Repeat("x", 100)))
		}
		if err := r.Commit(); err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, n / 3, n - 1} {
			key := fmt.Sprintf("key%08d", i)
			at, err := r.runs[0].seek(key)
			if err != nil {
				t.Fatal(err)
			}
			if want := int64(i) * 122; at > want || want-at > 2*block {
				t.Errorf("of %d rows, row %d is looked for from byte %d, and it is at %d", n, i, at, want)
			}
			if r.Get(key) == nil {
				t.Errorf("row %d of %d is missing", i, n)
			}
		}
		r.Close()
	}
}
