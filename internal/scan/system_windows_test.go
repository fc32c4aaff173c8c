package scan_test

import (
	"testing"
	"time"
)

func pipe(t *testing.T, _ string)             { t.Skip("a folder has no named pipes here") }
func openFiles(*testing.T) int                { return 0 }
func asUser(t *testing.T, _ string, f func()) { f() }

// cpuTime is not measured here.
func cpuTime() time.Duration { return 0 }
