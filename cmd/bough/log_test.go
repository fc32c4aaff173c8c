package main

import (
	"testing"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/history"
)

// TestLogOfPull: the log names the remote from which changes came.
func TestLogOfPull(t *testing.T) {
	pull := func(seq operation.Seq) history.Operation {
		return history.Operation{Seq: seq, Verb: "pull", Args: map[string]any{"remote": "home"}, Sessions: []string{"session_20260314_093003_f3ff4d45"}, Group: 4}
	}
	rows := rowsOf([]history.Operation{pull(5), pull(4)}, true)
	if len(rows) != 1 || rows[0].about(nil) != "2 operations from home, 4..5" {
		t.Errorf("two are %q", rows[0].about(nil))
	}
	if got := (logRow{pull(4)}).about(map[string]string{"session_20260314_093003_f3ff4d45": "Bread"}); got != `"Bread" f3ff4d45 from home` {
		t.Errorf("one is %q", got)
	}
}
