// Package storetest has the laws of a store of objects, as a test that every kind of store passes.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace/fault"
)

// Laws tests a kind of store. Each call of open returns an empty store.
func Laws(t *testing.T, open func(t *testing.T) bucket.Store) {
	for _, law := range []struct {
		name string
		test func(t *testing.T, s bucket.Store)
	}{
		{"get returns what was put", getReturnsPut},
		{"put creates once", putCreatesOnce},
		{"get never returns a part", getReturnsWhole},
		{"delete can be repeated", deleteRepeats},
		{"list selects and sorts", listSelects},
		{"list has all pages", listHasAll},
		{"invalid names do nothing", invalidNames},
		{"a cancelled context does nothing", cancelled},
		{"the probe passes", probes},
	} {
		t.Run(law.name, func(t *testing.T) { law.test(t, open(t)) })
	}
}

// Content returns size bytes that depend on seed.
func Content(seed, size int) []byte {
	data := make([]byte, size)
	for i := range data {
		data[i] = byte((i*i + seed*7919 + i>>8*31) >> 2)
	}
	return data
}

func put(t *testing.T, s bucket.Store, name string, data []byte) {
	t.Helper()
	if err := s.Put(t.Context(), name, data); err != nil {
		t.Fatalf("Put(%s) = %v", name, err)
	}
}

func has(t *testing.T, s bucket.Store, name string, want []byte) {
	t.Helper()
	if got, err := s.Get(t.Context(), name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("Get(%s) = %d bytes, %v; want the %d bytes that were put", name, len(got), err, len(want))
	}
}

func getReturnsPut(t *testing.T, s bucket.Store) {
	sizes := []int{0, 1, 65_537, testsize.Of(1<<20, 16<<20, 16<<20)}
	for _, size := range sizes {
		name, data := fmt.Sprintf("p/%d", size), Content(size, size)
		handed := bytes.Clone(data)
		put(t, s, name, handed)
		for i := range handed {
			handed[i] = 'x' // the store has its own copy
		}
		has(t, s, name, data)
		got, err := s.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i] = 'x'
		}
		has(t, s, name, data)
	}
	err := s.Put(t.Context(), "p/large", make([]byte, bucket.MaxObject+1))
	if !errors.Is(err, fault.Refused) {
		t.Errorf("Put of too many bytes = %v", err)
	}
	absent(t, s, "p/large")
}

func absent(t *testing.T, s bucket.Store, name string) {
	t.Helper()
	if data, err := s.Get(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get(%s) = %d bytes, %v; want fs.ErrNotExist", name, len(data), err)
	}
}

func putCreatesOnce(t *testing.T, s bucket.Store) {
	for round := range testsize.Of(2, 5, 50) {
		name := fmt.Sprintf("m/machine/%08d", round)
		const writers = 16
		results := make([]error, writers)
		start := make(chan struct{})
		var all sync.WaitGroup
		for i := range results {
			all.Go(func() {
				<-start
				results[i] = s.Put(t.Context(), name, Content(i, 3000+i))
			})
		}
		close(start)
		all.Wait()
		var winners []int
		for i, err := range results {
			if err == nil {
				winners = append(winners, i)
			} else if !errors.Is(err, bucket.ErrExists) {
				t.Errorf("a concurrent Put: %v", err)
			}
		}
		if len(winners) != 1 {
			t.Fatalf("round %d has the winners %v", round, winners)
		}
		winner := winners[0]
		has(t, s, name, Content(winner, 3000+winner))
		for _, data := range [][]byte{Content(winner, 3000+winner), []byte("other")} {
			if err := s.Put(t.Context(), name, data); !errors.Is(err, bucket.ErrExists) {
				t.Errorf("Put of %d bytes to a name in use: %v", len(data), err)
			}
		}
		has(t, s, name, Content(winner, 3000+winner))
	}
}

func getReturnsWhole(t *testing.T, s bucket.Store) {
	data := Content(1, 1<<20)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				got, err := s.Get(t.Context(), "p/whole")
				switch {
				case errors.Is(err, fs.ErrNotExist):
				case err != nil:
					t.Errorf("Get during Put: %v", err)
					return
				case !bytes.Equal(got, data):
					t.Errorf("Get during Put returns %d bytes, which are not those that are put", len(got))
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	put(t, s, "p/whole", data)
	close(done)
	readers.Wait()
	has(t, s, "p/whole", data)
}

func deleteRepeats(t *testing.T, s bucket.Store) {
	absent(t, s, "a/b/c")
	for range 2 {
		if err := s.Delete(t.Context(), "a/b/c"); err != nil {
			t.Errorf("Delete of nothing: %v", err)
		}
	}
	put(t, s, "a/b/c", []byte("first"))
	put(t, s, "a/b/d", []byte("other"))
	for range 2 {
		if err := s.Delete(t.Context(), "a/b/c"); err != nil {
			t.Errorf("Delete: %v", err)
		}
		absent(t, s, "a/b/c")
	}
	has(t, s, "a/b/d", []byte("other"))
	put(t, s, "a/b/c", []byte("second"))
	has(t, s, "a/b/c", []byte("second"))
}

func listSelects(t *testing.T, s bucket.Store) {
	names := []string{"bough.json", "a-b", "a.b", "a/c", "a0", "m/x/1", "m/x/12", "m/x/base-2", "m/x-1/3", "m/y/1", "p/0f", "p/f0"}
	for i, name := range names {
		put(t, s, name, Content(i, i))
	}
	for _, prefix := range []string{"", "a", "a/", "m/", "m/x", "m/x/", "m/x/1", "z", "m/x/base-"} {
		for _, after := range []string{"", "a/", "a/c", "m/x", "m/x/", "m/x/1", "m/x/z"} {
			for _, shallow := range []bool{false, true} {
				o := bucket.ListOptions{Prefix: prefix, After: after, Shallow: shallow}
				want := map[string]int64{}
				for i, name := range names {
					size := int64(i)
					rest, ok := strings.CutPrefix(name, prefix)
					if part, _, below := strings.Cut(rest, "/"); shallow && below {
						name, size = prefix+part+"/", 0
					}
					if ok && name > after {
						want[name] = size
					}
				}
				got, err := s.List(t.Context(), o)
				if err != nil {
					t.Fatalf("List(%+v) = %v", o, err)
				}
				if !ascending(got) {
					t.Errorf("List(%+v) = %v, which does not ascend", o, got)
				}
				for _, object := range got {
					if size, ok := want[object.Name]; !ok || size != object.Size {
						t.Errorf("List(%+v) has %v; want %v", o, object, want)
					}
				}
				if len(got) != len(want) {
					t.Errorf("List(%+v) = %v; want %v", o, got, want)
				}
			}
		}
	}
}

func ascending(list []bucket.Object) bool {
	return slices.IsSortedFunc(list, func(a, b bucket.Object) int {
		if a.Name == b.Name {
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
}

func listHasAll(t *testing.T, s bucket.Store) {
	n := testsize.Of(30, 230, 2300)
	numbers := make(chan int)
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for i := range numbers {
				if err := s.Put(t.Context(), fmt.Sprintf("m/%d/%08d", i%3, i), []byte{1}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	writers.Wait()
	all, err := s.List(t.Context(), bucket.ListOptions{})
	if err != nil || len(all) != n || !ascending(all) {
		t.Fatalf("List has %d of %d objects, ascending %v: %v", len(all), n, ascending(all), err)
	}
	rest, err := s.List(t.Context(), bucket.ListOptions{After: all[n/2].Name})
	if err != nil || !slices.Equal(rest, all[n/2+1:]) {
		t.Errorf("List after %s has %d objects, %v; want %d", all[n/2].Name, len(rest), err, n-n/2-1)
	}
	folders, err := s.List(t.Context(), bucket.ListOptions{Prefix: "m/", Shallow: true})
	if want := []bucket.Object{{Name: "m/0/"}, {Name: "m/1/"}, {Name: "m/2/"}}; err != nil || !slices.Equal(folders, want) {
		t.Errorf("List of the first parts = %v, %v; want %v", folders, err, want)
	}
}

// hostile are names that are invalid, also as the beginning of names.
var hostile = []string{
	"/", "/etc/passwd", "..", "../x", "a/../../x", "a//b", "a/./b", ".hidden", "a/.git/x", "C:/x", `a\b`, "a b",
	"a\x00b", "a\nb", "é", "A", "a%2fb", "a?x", "a#b", "a*", "~/x", strings.Repeat("a", 256), strings.Repeat("a/", 400),
}

func invalidNames(t *testing.T, s bucket.Store) {
	put(t, s, "a/b", []byte("stays"))
	for _, name := range slices.Concat(hostile, []string{"", "a/", "a.", "a./b"}) {
		_, get := s.Get(t.Context(), name)
		for do, err := range map[string]error{"Put": s.Put(t.Context(), name, []byte("x")), "Get": get, "Delete": s.Delete(t.Context(), name)} {
			if !errors.Is(err, fault.Usage) {
				t.Errorf("%s(%.20q) = %v", do, name, err)
			}
		}
	}
	for _, name := range hostile {
		for _, o := range []bucket.ListOptions{{Prefix: name}, {After: name}} {
			if list, err := s.List(t.Context(), o); !errors.Is(err, fault.Usage) {
				t.Errorf("List(%+v) = %v, %v", o, list, err)
			}
		}
	}
	if list, err := s.List(t.Context(), bucket.ListOptions{}); err != nil || len(list) != 1 || list[0].Name != "a/b" {
		t.Errorf("afterwards, the store has %v, %v", list, err)
	}
}

func cancelled(t *testing.T, s bucket.Store) {
	put(t, s, "a/b", []byte("stays"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, get := s.Get(ctx, "a/b")
	_, list := s.List(ctx, bucket.ListOptions{})
	for do, err := range map[string]error{"Put": s.Put(ctx, "a/c", []byte("x")), "Get": get, "List": list, "Delete": s.Delete(ctx, "a/b")} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s = %v", do, err)
		}
	}
	has(t, s, "a/b", []byte("stays"))
	absent(t, s, "a/c")
}

func probes(t *testing.T, s bucket.Store) {
	if err := bucket.Probe(t.Context(), s); err != nil {
		t.Error(err)
	}
	if list, err := s.List(t.Context(), bucket.ListOptions{}); err != nil || len(list) != 0 {
		t.Errorf("the probe leaves %v, %v", list, err)
	}
}

// Survives puts n objects in a store whose calls may fail, each again until it is there, checks that
// what was acknowledged stays, and returns how many calls failed.
func Survives(t *testing.T, s bucket.Store, n int) (failed int) {
	t.Helper()
	const attempts = 100
	for i := range n {
		name, data := fmt.Sprintf("m/machine/%08d", i), Content(i, 500+i*97)
		for try := 0; ; try++ {
			err := s.Put(t.Context(), name, data)
			if err == nil || errors.Is(err, bucket.ErrExists) {
				break
			}
			if failed++; try == attempts {
				t.Fatalf("Put(%s) failed %d times: %v", name, attempts, err)
			}
		}
		for k := range i + 1 {
			if k < i-2 && k%7 != i%7 {
				continue // a sample of the old ones
			}
			name, want := fmt.Sprintf("m/machine/%08d", k), Content(k, 500+k*97)
			got, err := get(t.Context(), s, name, attempts)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("Get(%s) = %d bytes, %v; want %d", name, len(got), err, len(want))
			}
		}
	}
	return failed
}

// get reads an object that exists, again while a call fails or does not find it.
func get(ctx context.Context, s bucket.Store, name string, attempts int) (data []byte, err error) {
	for range attempts {
		if data, err = s.Get(ctx, name); err == nil {
			return data, nil
		}
	}
	return nil, err
}
