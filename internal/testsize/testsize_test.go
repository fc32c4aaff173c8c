package testsize

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func TestSpaced(t *testing.T) {
	list := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for n, want := range map[int][]int{1: {9}, 2: {4, 9}, 3: {2, 5, 9}, 10: list} {
		if got := spaced(list, n); !slices.Equal(got, want) {
			t.Errorf("%d of %v are %v, want %v", n, list, got, want)
		}
	}
}

func TestFull(t *testing.T) {
	list := []int{1, 2, 3}
	t.Setenv(Variable, "full")
	if !Full() || Of(1, 2, 3) != 3 || !slices.Equal(Sample(t, "numbers", list, 1), list) {
		t.Error("the full run omits an element")
	}
	t.Setenv(Variable, "")
	if Full() || Of(1, 2, 3) == 3 || !slices.Equal(Sample(t, "numbers", list, 1), list[2:]) || !slices.Equal(Sample(t, "numbers", list, 3), list) {
		t.Error("the sample is not a sample")
	}
	defer func() {
		if recover() == nil {
			t.Error("a misspelled value passes")
		}
	}()
	t.Setenv(Variable, "ful")
	Full()
}

type run func() int

func (r run) Run() int { return r() }

func TestLazyGC(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	percent := func() (percent int) {
		LazyGC(run(func() int {
			percent = debug.SetGCPercent(100)
			return 0
		})).Run()
		return percent
	}
	if got := percent(); got != 400 {
		t.Errorf("the garbage collector has %d percent, want 400", got)
	}
}

// TestInMemory: a program that a test starts, and may kill, uses the folder of that test.
func TestInMemory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	InMemory(run(func() int {
		if got := os.Getenv("TMPDIR"); got != dir {
			t.Errorf("temporary files are in %s, want %s", got, dir)
		}
		return 0
	})).Run()
}

func TestBenchmarks(t *testing.T) {
	for args, want := range map[string]bool{
		"":                            false,
		"-test.run=X -test.v":         false,
		"-test.benchtime=3x":          false,
		"-test.run=^$ -test.bench=.":  true,
		"--test.bench=Append -test.v": true,
	} {
		if got := benchmarks(strings.Fields(args)); got != want {
			t.Errorf("benchmarks(%q) = %v, want %v", args, got, want)
		}
	}
}
