package stream_test

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

var ctx = context.Background()

// A machine is a writer and what it has read.
type machine struct {
	testing.TB
	*stream.Remote
	*stream.Writer
	dir  string
	have stream.Cursors
	got  map[string]int // how often it has applied a value
}

func newKey(t testing.TB) *seal.Key {
	key, err := seal.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// newRemote creates a remote in a store.
func newRemote(t testing.TB, store bucket.Store) *stream.Remote {
	r, created, err := stream.Create(ctx, store, newKey(t))
	if err != nil || !created {
		t.Fatalf("Create = %v, %v", created, err)
	}
	return r
}

// through returns the remote through another access to its store.
func through(r *stream.Remote, store bucket.Store) *stream.Remote {
	return &stream.Remote{Store: store, Key: r.Key, ID: r.ID}
}

func newMachine(t testing.TB, r *stream.Remote) *machine {
	return newMachineAt(t, r, t.TempDir(), func(string) {})
}

// newMachineAt returns the machine of a folder that fill fills.
func newMachineAt(t testing.TB, r *stream.Remote, dir string, fill func(dir string)) *machine {
	fill(dir)
	m := &machine{TB: t, Remote: r, dir: dir, have: stream.Cursors{}, got: map[string]int{}}
	m.reopen()
	return m
}

// reopen opens the writer as after a crash.
func (m *machine) reopen() {
	m.Helper()
	root, err := os.OpenRoot(m.dir)
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { root.Close() })
	if m.Writer, err = m.OpenWriter(root); err != nil {
		m.Fatal(err)
	}
}

// ops returns an operation for each value.
func ops(values ...string) (list []record.Op) {
	for _, v := range values {
		list = append(list, record.Op{Do: record.Set, Entity: "session/a", Field: "title", Value: json.RawMessage(strconv.Quote(v))})
	}
	return list
}

// say appends values, each as an operation of one record.
func (m *machine) say(values ...string) []*record.Record {
	m.Helper()
	list, err := m.Append(m.have, nil, ops(values...))
	if err != nil {
		m.Fatal(err)
	}
	return list
}

func (m *machine) upload() {
	m.Helper()
	if err := m.Upload(ctx); err != nil {
		m.Fatal(err)
	}
	m.have.Merge(m.Published())
}

// publish says values and uploads them.
func (m *machine) publish(values ...string) {
	m.Helper()
	m.say(values...)
	m.upload()
}

// fetch fetches and applies.
func (m *machine) fetch(scope stream.Scope) *stream.Fetched {
	m.Helper()
	got, err := m.try(stream.Request{Scope: scope})
	if err != nil {
		m.Fatal(err)
	}
	return got
}

func (m *machine) try(q stream.Request) (*stream.Fetched, error) {
	m.Helper()
	q.Have, q.Own = m.have, m.Own()
	got, err := m.Fetch(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, b := range got.Bases {
		var values []string
		if err := json.Unmarshal(b.Content, &values); err != nil {
			m.Fatal(err)
		}
		for _, v := range values {
			m.got[v] = 1
		}
	}
	vector := m.have.Vector()
	for _, b := range got.Bases {
		vector[b.Machine] = b.Seq
	}
	vector[m.Machine()] = m.Published()[m.Machine()].Seq + uint64(len(m.Unsent())) // they were applied when they were said
	for _, r := range got.Records {
		if !vector.Covers(r.Seen) || vector[r.Machine]+1 != r.Seq && r.Machine != m.Machine() {
			m.Errorf("record %d of %s, which has seen %v, comes after %v", r.Seq, r.Machine, r.Seen, vector)
		}
		vector[r.Machine] = r.Seq
		for _, v := range valuesOf(m, r) {
			m.got[v]++
		}
	}
	m.have = got.Next
	return got, nil
}

func valuesOf(t testing.TB, r *record.Record) (list []string) {
	t.Helper()
	for _, op := range r.Ops {
		v, err := strconv.Unquote(string(op.Value))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// has checks that the machine has applied values, each once.
func (m *machine) has(values ...string) {
	m.Helper()
	for _, v := range values {
		if m.got[v] != 1 {
			m.Errorf("%q was applied %d times", v, m.got[v])
		}
	}
	if len(m.got) != len(values) {
		m.Errorf("applied are %v, want %q", m.got, values)
	}
}

// copyOf returns a machine with a copy of the disk of m.
func copyOf(m *machine) *machine {
	m.Helper()
	c := newMachineAt(m, m.Remote, m.TempDir(), func(dir string) {
		if err := os.CopyFS(dir, os.DirFS(m.dir)); err != nil {
			m.Fatal(err)
		}
	})
	c.have.Merge(m.have)
	for value, n := range m.got {
		c.got[value] = n
	}
	return c
}
