package main

import (
	"bufio"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestSyncFailed: an exchange that fails in the background says what to do, as any other command does.
func TestSyncFailed(t *testing.T) {
	var out strings.Builder
	p := &program{stdout: bufio.NewWriter(&out)}
	p.synced(t.Context(), nil, remote.Info{Name: "nas"}, nil, &fault.Error{Code: fault.NotFound, Message: "there is no folder", Hint: "connect the disk"})
	p.stdout.Flush()
	if !strings.HasSuffix(out.String(), "  nas  there is no folder\n   connect the disk\n") {
		t.Errorf("it prints %q", out.String())
	}
}
