package server_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/server"
)

// TestMany has many clients write and read one session concurrently, each in a
// branch of its own, and some in a common one: nothing is lost, and no branch has a
// message of another.
func TestMany(t *testing.T) {
	t.Parallel()
	clients, each := testsize.Of(4, 6, 64), 6
	s := newSite(t, server.Options{})
	id := s.create(nil).ID
	root := s.store(id, "root", "").ID
	fork := s.store(id, "fork", root).ID
	var all sync.WaitGroup
	leaves := make([]string, clients)
	errs := make(chan error, clients*each)
	for i := range clients {
		all.Go(func() {
			at, depth := []string{root, fork}[i%2], 1+i%2
			want := []string{"root", "fork"}[:depth]
			for n := range each {
				text := fmt.Sprintf("%d.%d", i, n)
				at = s.store(id, text, at).ID
				want = append(slices.Clip(want), text)
				switch rand.IntN(3) {
				case 0:
					list := s.read(id, "leaf_id="+at)
					if got := list.texts(t); got != strings.Join(want, " ") {
						errs <- fmt.Errorf("client %d reads %s, want %s", i, got, strings.Join(want, " "))
					}
				case 1:
					if got := s.branches(id); !slices.ContainsFunc(got, func(l leaf) bool { return l.ID == at && l.Depth == len(want) }) {
						errs <- fmt.Errorf("client %d misses its leaf of depth %d in %v", i, len(want), got)
					}
				}
			}
			leaves[i] = at
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	var got []string
	for _, l := range s.branches(id) {
		got = append(got, l.ID)
	}
	slices.Sort(got)
	slices.Sort(leaves)
	if !slices.Equal(got, leaves) {
		t.Errorf("%d leaves, want %d", len(got), len(leaves))
	}
	if got := s.observing(id); got[2] != 2+clients*each {
		t.Errorf("there are %d messages, want %d", got[2], 2+clients*each)
	}
}

// TestManyNewest has many clients store without a parent: the messages form one
// path.
func TestManyNewest(t *testing.T) {
	t.Parallel()
	clients, each := testsize.Of(5, 10, 32), 3
	s := newSite(t, server.Options{})
	id := s.create(nil).ID
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for n := range each {
				s.store(id, fmt.Sprintf("%d.%d", i, n), "")
			}
		})
	}
	all.Wait()
	if got := s.branches(id); len(got) != 1 || got[0].Depth != clients*each {
		t.Errorf("leaves: %v", got)
	}
	list := s.read(id, "")
	texts := strings.Fields(list.texts(t))
	for i := range clients {
		last := -1
		for n := range each {
			at := slices.Index(texts, fmt.Sprintf("%d.%d", i, n))
			if at <= last {
				t.Errorf("%d.%d is at %d, after %d", i, n, at, last)
			}
			last = at
		}
	}
}
