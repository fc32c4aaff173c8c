package storetest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/internal/faults"
	"github.com/bough-dev/bough/remote/internal/storetest"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

// openFolder returns a store in a new folder, which has things beside objects.
func openFolder(t *testing.T) bucket.Store {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{".stfolder/x", ".~bough/left.tmp", "Thumbs.db", "m/.DS_Store", "m/x/desktop.ini~", "empty/folder/.keep"} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := bucket.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestMemory(t *testing.T) {
	storetest.Laws(t, func(*testing.T) bucket.Store { return new(bucket.Memory) })
}

func TestFolder(t *testing.T) { storetest.Laws(t, openFolder) }

func TestMeter(t *testing.T) {
	storetest.Laws(t, func(*testing.T) bucket.Store { return bucket.NewMeter(new(bucket.Memory)) })
}

// TestNoFaults: a network without faults is a store.
func TestNoFaults(t *testing.T) {
	storetest.Laws(t, func(*testing.T) bucket.Store {
		return faults.NewNetwork(new(bucket.Memory), 1, faults.Rates{}).Client()
	})
}

// TestFaults: with faults, an object that was put is never lost.
func TestFaults(t *testing.T) {
	failed := 0
	for seed := range uint64(testsize.Of(2, 8, 300)) {
		failed += storetest.Survives(t, faults.NewNetwork(new(bucket.Memory), seed, faults.Some).Client(), 60)
	}
	if failed == 0 {
		t.Error("no call failed")
	}
}
