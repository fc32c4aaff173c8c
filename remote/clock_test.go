package remote_test

import (
	"io"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

var seconds atomic.Int64

// clock returns the clock of all computers, so that no two messages have the same time.
func clock() func() time.Time {
	return func() time.Time {
		return time.Date(2026, 5, 25, 15, 32, 0, 0, time.UTC).Add(time.Duration(seconds.Add(1)) * time.Second)
	}
}

// source returns a source of ids.
func source(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }
