package seal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/bough-dev/bough/internal/bounded"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/workspace/fault"
)

func newKey(t testing.TB) *seal.Key {
	key, err := seal.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newSigner(t testing.TB) *seal.Signer {
	s, err := seal.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestByHand: age with the key file and zstd open what Seal stored.
func TestByHand(t *testing.T) {
	dir := t.TempDir()
	file, err := seal.OpenKeyFile(filepath.Join(dir, "deep", "key"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("a message\n", 1000)
	stored, err := file.Seal([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "deep", "key"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	identities, err := age.ParseIdentities(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := age.Decrypt(bytes.NewReader(stored), identities...)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("zstd", "-d", "-c")
	cmd.Stdin = r
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("zstd returned %d bytes, want %d", len(got), len(want))
	}
}

// TestKeyFile: a key file is made once, private, and read again; the answer says whether others can
// read it.
func TestKeyFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "keys", "laptop")
	if _, err := seal.ReadKeyFile(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading no file: %v", err)
	}
	made, err := seal.OpenKeyFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !made.Made || made.Shared {
		t.Errorf("the new key file is %+v", made)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	stored, err := made.Seal([]byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	read, err := seal.OpenKeyFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if read.Made || !read.Shared {
		t.Errorf("the key file with mode 640 is %+v", read)
	}
	if got, err := read.Open(stored, 100); err != nil || string(got) != "secret" {
		t.Errorf("opened %q, %v", got, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(name, link); err != nil {
		t.Fatal(err)
	}
	if linked, err := seal.OpenKeyFile(link); err != nil || linked.Made || !linked.Shared {
		t.Errorf("through a link: %+v, %v", linked, err)
	}
	if _, err := newKey(t).Open(stored, 100); !errors.Is(err, seal.ErrKey) {
		t.Errorf("another key: %v", err)
	}
}

// TestBadKeyFile: a file that is no key is an error that names it and quotes none of it, and stays.
func TestBadKeyFile(t *testing.T) {
	one, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "AGE-SECRET-KEY-1QQQ\n", one.String() + "\n" + one.String() + "\n", hybrid.String() + "\n", strings.Repeat("#\n", 1<<20)} {
		name := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := seal.OpenKeyFile(name)
		if !errors.Is(err, fault.Damaged) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "KEY-1") {
			t.Errorf("%.20q: %v", text, err)
		}
		if got, _ := os.ReadFile(name); string(got) != text {
			t.Errorf("%.20q was changed", text)
		}
	}
}

// TestOpenBounds: bytes that decompress to more than the limit are refused, and so are those of no object.
func TestOpenBounds(t *testing.T) {
	key := newKey(t)
	stored, err := key.Seal(make([]byte, 20<<20))
	if err != nil {
		t.Fatal(err)
	}
	var long *bounded.TooLongError
	if _, err := key.Open(stored, 1<<20); !errors.As(err, &long) {
		t.Errorf("20 MiB with a limit of one: %v", err)
	}
	if allocated := testing.AllocsPerRun(1, func() { _, _ = key.Open(stored, 1<<20) }); allocated > 2000 {
		t.Errorf("%v allocations", allocated)
	}
	for _, bad := range [][]byte{nil, []byte("x"), stored[:100], stored[:len(stored)-1]} {
		if _, err := key.Open(bad, 32<<20); err == nil {
			t.Errorf("%d bytes of an object were opened", len(bad))
		}
	}
}

func randomRecord(rnd *rand.Rand, s *seal.Signer) *record.Record {
	word := func() string { return strings.Repeat(string(rune('a'+rnd.IntN(26))), 1+rnd.IntN(5)) }
	other := seal.MachineOf([]byte(word()))
	r := &record.Record{Format: 1, Machine: s.Machine(), Seq: 1 + rnd.Uint64N(3), Lamport: 1 + rnd.Uint64N(1000)}
	if r.Seq == 1 {
		r.Key = s.Public()
	} else {
		r.Before = strings.Repeat("0a", 32)
	}
	if rnd.IntN(2) == 0 {
		r.Seen = record.Vector{other: 1 + rnd.Uint64N(100)}
	}
	r.Ops = []record.Op{}
	parent := word()
	for range rnd.IntN(5) {
		values := []string{`"<title>"`, "{\n \"a\": NaN }", `null`, `{"a":"é\u00e9"}`, `12345678901234567890.50`}
		r.Ops = append(r.Ops, []record.Op{
			{Do: record.Set, Entity: "session/" + word(), Field: word(), Value: json.RawMessage(values[rnd.IntN(len(values))])},
			{Do: record.Add, Entity: "session/" + word(), Field: "messages", Body: &record.Body{Items: []record.Item{
				{ID: word(), Raw: json.RawMessage("{\n  \"content\": \"x\"\n}")}, {ID: word(), Parent: &parent, Content: []byte{0, 255}},
				{Path: &record.Path{Session: word(), First: word(), Last: word(), Count: 3, SHA256: strings.Repeat("f", 64)}}}}},
			{Do: record.Add, Entity: "session/" + word(), Field: "messages", Body: &record.Body{Pack: strings.Repeat("b", 64), At: 7, Size: 70, Count: 2}},
			{Do: record.Drop, Entity: word(), Field: word(), Stamps: []record.Stamp{{Lamport: 3, Machine: other, Seq: 2, Index: 1}}},
			{Do: record.Remove, Entity: word()},
		}[rnd.IntN(5)])
	}
	return r
}

// TestRecordReturns: decode returns what was encoded, and refuses any changed byte, another machine's
// key, and truncated ones.
func TestRecordReturns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s, other := newSigner(t), newSigner(t)
	for range testsize.Of(5, 20, 200) {
		r := randomRecord(rnd, s)
		data, err := seal.EncodeRecord(r, s)
		if err != nil {
			t.Fatal(err)
		}
		got, exact, err := seal.DecodeRecord(data, s.Public())
		if err != nil || !exact || !reflect.DeepEqual(got, r) {
			t.Fatalf("%s\ncame back as %+v, %v, %v", data, got, exact, err)
		}
		if _, _, err := seal.DecodeRecord(data, nil); (err == nil) != (r.Seq == 1) {
			t.Errorf("record %d without a known key: %v", r.Seq, err)
		}
		if _, _, err := seal.DecodeRecord(data, other.Public()); !errors.Is(err, seal.ErrSignature) {
			t.Errorf("with another machine's key: %v", err)
		}
		for range 25 {
			changed := bytes.Clone(data)
			at := rnd.IntN(len(data))
			changed[at] ^= byte(1 + rnd.IntN(255))
			if got, _, err := seal.DecodeRecord(changed, s.Public()); err == nil && !reflect.DeepEqual(got, r) {
				t.Fatalf("byte %d of\n%s\nwas changed to %q", at, data, changed[at])
			}
			if _, _, err := seal.DecodeRecord(data[:at], s.Public()); err == nil {
				t.Fatalf("%d of %d bytes were decoded", at, len(data))
			}
		}
	}
}

// TestNewerRecord: members and actions of another version are kept out of the way, and said; another
// format is an error of its own.
func TestNewerRecord(t *testing.T) {
	s := newSigner(t)
	r := &record.Record{Format: 1, Machine: s.Machine(), Seq: 1, Lamport: 1, Key: s.Public(), Ops: []record.Op{{Do: "merge", Entity: "x"}}}
	data, err := seal.EncodeRecord(r, s)
	if err != nil {
		t.Fatal(err)
	}
	if got, exact, err := seal.DecodeRecord(data, nil); err != nil || exact || len(got.Ops) != 1 {
		t.Errorf("an unknown action: %+v, %v, %v", got, exact, err)
	}
	r.Format = 2
	if _, err := seal.EncodeRecord(r, s); !errors.Is(err, seal.ErrNewer) {
		t.Errorf("format 2: %v", err)
	}
	r.Format, r.Ops = 1, []record.Op{{Do: record.Set, Entity: "x", Value: json.RawMessage("1")}}
	if data, err = seal.EncodeRecord(r, s); err != nil {
		t.Fatal(err)
	}
	data = seal.Resign(s, bytes.Replace(data, []byte(`"value":1`), []byte(`"value":1,"why":[]`), 1))
	if got, exact, err := seal.DecodeRecord(data, nil); err != nil || exact || string(got.Ops[0].Value) != "1" {
		t.Errorf("an unknown member: %+v, %v, %v", got, exact, err)
	}
}

// TestHostileRecord: a machine signs what no machine may say.
func TestHostileRecord(t *testing.T) {
	s := newSigner(t)
	hash := strings.Repeat("a", 64)
	for name, change := range map[string]func(*record.Record){
		"number 0":             func(r *record.Record) { r.Seq = 0 },
		"a great Lamport":      func(r *record.Record) { r.Lamport = 1 << 60 },
		"no Lamport":           func(r *record.Record) { r.Lamport = 0 },
		"a second first":       func(r *record.Record) { r.Before = hash },
		"a key in a later one": func(r *record.Record) { r.Seq, r.Before = 2, hash },
		"no hash":              func(r *record.Record) { r.Seq, r.Key, r.Before = 2, nil, "../x" },
		"another machine":      func(r *record.Record) { r.Machine = seal.MachineOf(nil) },
		"a machine as a path":  func(r *record.Record) { r.Seen = record.Vector{"../../../../../../../../../../x": 1} },
		"its own machine":      func(r *record.Record) { r.Seen = record.Vector{r.Machine: 1} },
		"a pack as a path":     func(r *record.Record) { r.Ops[0].Body = &record.Body{Pack: "../bough.json"} },
		"a negative place":     func(r *record.Record) { r.Ops[0].Body = &record.Body{Pack: hash, At: -1} },
		"more items than bytes": func(r *record.Record) {
			r.Ops[0].Body = &record.Body{Pack: hash, Size: 1, Count: 2}
		},
		"both bodies":      func(r *record.Record) { r.Ops[0].Body = &record.Body{Pack: hash, Items: []record.Item{{}}} },
		"a long name":      func(r *record.Record) { r.Ops[0].Entity = strings.Repeat("x", 1<<20) },
		"a negative index": func(r *record.Record) { r.Ops[0].Stamps = []record.Stamp{{Machine: r.Machine, Index: -1}} },
		"a bad path":       func(r *record.Record) { r.Ops[0].Body = &record.Body{Items: []record.Item{{Path: &record.Path{}}}} },
		"deep JSON":        func(r *record.Record) { r.Ops[0].Value = json.RawMessage(strings.Repeat("[", 1<<16)) },
		"many operations":  func(r *record.Record) { r.Ops = make([]record.Op, seal.MaxOps+1) },
		"many machines": func(r *record.Record) {
			r.Seen = record.Vector{}
			for i := range 100_000 {
				r.Seen[record.Machine(fmt.Sprintf("%032x", i))] = 1
			}
		},
	} {
		r := &record.Record{Format: 1, Machine: s.Machine(), Seq: 1, Lamport: 1, Key: s.Public(), Ops: []record.Op{{Do: record.Set, Entity: "x"}}}
		change(r)
		if _, err := seal.EncodeRecord(r, s); err == nil {
			t.Errorf("%s was encoded", name)
		}
		if data, err := seal.SignAny(s, r); err == nil {
			if _, _, err := seal.DecodeRecord(data, nil); err == nil {
				t.Errorf("%s was decoded", name)
			}
		}
	}
}

// TestBaseReturns: a base returns as it was; a record is no base.
func TestBaseReturns(t *testing.T) {
	s := newSigner(t)
	for _, content := range []string{"", "{}", "a\n\nb\n"} {
		b := &seal.Base{Format: 1, Machine: s.Machine(), Seq: 3, Lamport: 3, Last: strings.Repeat("0", 64), Key: s.Public(), Content: []byte(content)}
		data, err := seal.EncodeBase(b, s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := seal.DecodeBase(data, nil); err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%q came back as %+v, %v", content, got, err)
		}
		if _, err := seal.DecodeBase(data, newSigner(t).Public()); !errors.Is(err, seal.ErrSignature) {
			t.Errorf("with another machine's key: %v", err)
		}
		if _, _, err := seal.DecodeRecord(data, s.Public()); err == nil {
			t.Error("a base was decoded as a record")
		}
		if _, err := seal.DecodeBase(bytes.Replace(data, []byte(`"seq":3`), []byte(`"seq":4`), 1), nil); !errors.Is(err, seal.ErrSignature) {
			t.Errorf("a changed number: %v", err)
		}
		other := record.Machine(strings.Repeat("a", 32))
		for lamport, seen := range map[uint64]record.Vector{4: nil, 6: {other: 2}, seal.MaxNumber: {other: 2}} {
			b.Lamport, b.Seen = lamport, seen
			if _, err := seal.EncodeBase(b, s); err == nil {
				t.Errorf("the Lamport %d of one that has seen %v was encoded", lamport, seen)
			}
		}
		b.Lamport, b.Seen = 5, record.Vector{other: 2}
		if _, err := seal.EncodeBase(b, s); err != nil {
			t.Errorf("the greatest Lamport: %v", err)
		}
		b.Seen = record.Vector{other: 1<<40 + 1}
		if _, err := seal.EncodeBase(b, s); err == nil {
			t.Error("a base that has seen more records than a stream has was encoded")
		}
		b.Seen = record.Vector{other: 2}
		b.Lamport, b.Lost = 8, record.Vector{other: 5}
		if data, err := seal.EncodeBase(b, s); err != nil {
			t.Errorf("the greatest Lamport of one that gave up others: %v", err)
		} else if got, err := seal.DecodeBase(data, nil); err != nil || !reflect.DeepEqual(got.Lost, b.Lost) {
			t.Errorf("it came back as %+v, %v", got, err)
		}
		b.Lamport = 9
		if _, err := seal.EncodeBase(b, s); err == nil {
			t.Error("a greater Lamport was encoded")
		}
	}
}

// FuzzDecode: no bytes that a machine signs make decoding panic, and a value that is decoded and exact is
// encoded as the same bytes.
func FuzzDecode(f *testing.F) {
	s, err := seal.ParseSigner(make([]byte, 32))
	if err != nil {
		f.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		data, err := seal.EncodeRecord(randomRecord(rnd, s), s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, _ = seal.DecodeRecord(data, nil)
		_, _ = seal.DecodeBase(data, nil)
		signed := seal.Resign(s, data)
		r, exact, err := seal.DecodeRecord(signed, s.Public())
		if err != nil || !exact {
			return
		}
		again, err := seal.EncodeRecord(r, s)
		if err != nil {
			t.Fatalf("%s cannot be encoded again: %v", signed, err)
		}
		if !bytes.Equal(again, signed) {
			t.Errorf("%s\nis encoded as\n%s", signed, again)
		}
	})
}

// TestBombs: a record that takes a hundred times as many bytes in memory as in the store is refused before that,
// whatever the spelling of its keys.
func TestBombs(t *testing.T) {
	s := newSigner(t)
	plain, err := seal.SignAny(s, &record.Record{Format: 1, Machine: s.Machine(), Seq: 1, Lamport: 1, Key: s.Public()})
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := bytes.Cut(plain, []byte("\n"))
	const n = 300_000
	many := "[" + strings.Repeat("{},", n) + "{}]"
	for what, op := range map[string]string{
		"items":                    `{"do":"add","entity":"x","body":{"items":` + many + `}}`,
		"stamps":                   `{"do":"drop","entity":"x","stamps":` + many + `}`,
		"items in another case":    `{"do":"add","entity":"x","BODY":{"Items":` + many + `}}`,
		"items the second time":    `{"do":"add","entity":"x","body":{"items":[{}],"items":` + many + `}}`,
		"items with an escape":     `{"do":"add","entity":"x","b\u006fdy":{"it\u0065ms":` + many + `}}`,
		"items in many operations": strings.TrimSuffix(strings.Repeat(`{"do":"add","entity":"x","body":{"items":`+many[:3*100_000+1]+`{}]}}`+"\n", 6), "\n"),
	} {
		data := seal.Resign(s, []byte(string(head)+"\n"+op+"\n"+`{"signature":""}`+"\n"))
		before := allocated()
		_, _, err := seal.DecodeRecord(data, s.Public())
		if err == nil || !strings.Contains(err.Error(), "more than 250000 items and stamps") {
			t.Errorf("%s: %v", what, err)
		}
		if n := allocated() - before; n > 512<<20 {
			t.Errorf("%s: %d bytes of JSON take %d bytes of memory", what, len(data), n)
		}
	}
	// Many commas in values are none of that.
	list := `{"do":"set","entity":"x","field":"y","value":[` + strings.Repeat("1,", n) + `1]}`
	if _, _, err := seal.DecodeRecord(seal.Resign(s, []byte(string(head)+"\n"+list+"\n"+`{"signature":""}`+"\n")), s.Public()); err != nil {
		t.Errorf("a long value: %v", err)
	}
}

// allocated returns how many bytes were allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
