package bucket

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/bough-dev/bough/workspace/fault"
)

const (
	probeWriters = 16
	probeSize    = 32 << 10 // bytes: a larger object takes longer to write, and so its writers meet

	// probeCleanup limits the removal of the probed object after the context has ended.
	probeCleanup = 10 * time.Second
)

// Probe checks that a store can be used: that 16 concurrent writers of one name have one winner,
// whose bytes the object has, and that objects can be read, listed and deleted. The error is a
// *[NoCreateOnlyError] if there are several winners. Probe removes what it has written.
//
// A folder that a program copies to other machines passes, although writers on two machines both
// win there.
func Probe(ctx context.Context, s Store) (err error) {
	id := make([]byte, 16)
	rand.Read(id)
	name := "probe-" + hex.EncodeToString(id)
	switch _, err := s.Get(ctx, name); {
	case err == nil:
		return broken("the store returns an object that was never written")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeCleanup)
		defer cancel()
		if e := s.Delete(clean, name); err == nil {
			err = e
		}
	}()
	contents, results := race(ctx, s, name)
	if err := other(results); err != nil {
		return err
	}
	stored, err := s.Get(ctx, name)
	if err != nil {
		return err
	}
	if _, err := s.List(ctx, ListOptions{Prefix: name}); err != nil {
		return err
	}
	return judge(contents, results, stored)
}

// race has the writers put different contents under one name, and returns these and the results.
func race(ctx context.Context, s Store, name string) (contents [][]byte, results []error) {
	contents, results = make([][]byte, probeWriters), make([]error, probeWriters)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range contents {
		contents[i] = bytes.Repeat([]byte{byte(i)}, probeSize)
		all.Go(func() {
			<-start
			results[i] = s.Put(ctx, name, contents[i])
		})
	}
	close(start)
	all.Wait()
	return contents, results
}

// other returns the first result that is neither success nor ErrExists.
func other(results []error) error {
	for _, err := range results {
		if err != nil && !errors.Is(err, ErrExists) {
			return err
		}
	}
	return nil
}

// judge decides whether the results are those of a store that creates only, and that has kept what
// its winner wrote. If the answer to the winner was lost and its request repeated, no result says
// that it won.
func judge(contents [][]byte, results []error, stored []byte) error {
	winners, kept := 0, false
	for i, err := range results {
		if err == nil {
			winners++
		}
		kept = kept || bytes.Equal(contents[i], stored)
	}
	switch {
	case winners > 1:
		return &NoCreateOnlyError{Winners: winners, Writers: len(results)}
	case !kept:
		return broken("the store returns other bytes than were written")
	}
	for i, err := range results {
		if err == nil && !bytes.Equal(contents[i], stored) {
			return &NoCreateOnlyError{Winners: 2, Writers: len(results)} // a loser overwrote the object
		}
	}
	return nil
}

func broken(what string) error {
	return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the store cannot be used: %s", what)}
}
