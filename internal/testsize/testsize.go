// Package testsize decides how much of an exhaustive test runs.
//
// A test that tries every crash point, kills hundreds of processes or walks for minutes
// has three sizes: everything with BOUGH_TEST=full, which .ci/run sets; a sample that
// is the same in each run by default; and a small one with -short. A size makes a test
// smaller, it never skips one.
package testsize

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// Variable names the environment variable. Full is its only value.
const Variable = "BOUGH_TEST"

// Full reports whether nothing is sampled. It panics if the variable has a
// value other than "full", so that a misspelled value is not mistaken for a
// sample.
func Full() bool {
	switch value := os.Getenv(Variable); value {
	case "":
		return false
	case "full":
		return true
	default:
		panic(Variable + "=" + value + `; want "full" or nothing`)
	}
}

// Of returns the size for this run. A full run is full with -short, too.
func Of[T any](short, plain, full T) T {
	switch {
	case Full():
		return full
	case testing.Short():
		return short
	default:
		return plain
	}
}

// Sample returns at most n elements of list, evenly spaced, with the last one,
// or all of them in a full run. If it omits elements, it logs how many.
func Sample[T any](t testing.TB, what string, list []T, n int) []T {
	t.Helper()
	if Full() || len(list) <= n {
		return list
	}
	t.Logf("%d of %d %s; %s=full tries all", n, len(list), what, Variable)
	return spaced(list, n)
}

// spaced returns n elements of list, evenly spaced, the last one among them.
func spaced[T any](list []T, n int) []T {
	some := make([]T, n)
	for i := range some {
		some[i] = list[(i+1)*len(list)/n-1]
	}
	return some
}

// Tests are those of a package, as TestMain gets them.
type Tests interface{ Run() int }

// InMemory returns tests whose temporary folders are in memory, where a file system with
// enough space for them is, because waiting for a disk is most of their time. If TMPDIR is set
// they are there, as .ci/run has it for some of the runs; benchmarks write to the disk.
func InMemory(m Tests) Tests { return inMemory{m} }

type inMemory struct{ Tests }

func (m inMemory) Run() int {
	if os.Getenv("TMPDIR") != "" || benchmarks(os.Args) || !memory() {
		return m.Tests.Run()
	}
	dir, err := os.MkdirTemp(shm, "bough-test-")
	if err != nil {
		return m.Tests.Run()
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil { // some tests run a program as another user
		return m.Tests.Run()
	}
	os.Setenv("TMPDIR", dir)
	return m.Tests.Run()
}

// Waiting returns tests of which eight at a time run in parallel, if they are marked so,
// because most of their time is waiting for other programs. The flag -parallel overrides it.
func Waiting(m Tests) Tests { return waiting{m} }

type waiting struct{ Tests }

func (m waiting) Run() int {
	if runtime.GOMAXPROCS(0) < 8 && !flag.Parsed() {
		flag.Set("test.parallel", "8")
	}
	return m.Tests.Run()
}

// LazyGC returns tests with a garbage collector that runs a quarter as often, because they
// allocate much and keep little. Benchmarks have the usual one. A test that measures memory
// sets its own.
func LazyGC(m Tests) Tests { return lazyGC{m} }

type lazyGC struct{ Tests }

func (m lazyGC) Run() int {
	if !benchmarks(os.Args) {
		debug.SetGCPercent(400)
	}
	return m.Tests.Run()
}

// benchmarks reports whether a test program with these arguments, which it has not parsed
// yet, measures. What it measures must be what users get.
func benchmarks(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(strings.TrimLeft(arg, "-"), "test.bench=")
	})
}

const shm = "/dev/shm"
