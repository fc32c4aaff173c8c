package server_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestExplain: each error code of a workspace has a status, and UUIDs appear as in
// the request.
func TestExplain(t *testing.T) {
	for code, want := range map[fault.Code]int{
		fault.Failed: 500, fault.Usage: 400, fault.NotFound: 404, fault.Ambiguous: 409, fault.ReadOnly: 409,
		fault.HasChildren: 409, fault.ToolCut: 409, fault.Refused: 403, fault.Busy: 503, fault.Damaged: 500,
		fault.Locked: 503,
	} {
		err := fmt.Errorf("while storing: %w", &fault.Error{Code: code, Message: `no session "urn:uuid:x"`, Hint: "look"})
		status, msg, detail := server.Explain(err)
		told := ": look"
		if code == fault.ReadOnly {
			told = ": a copy of it is a session that can be continued"
		}
		if status != want || msg != `no session "x"` || detail != string(code)+told {
			t.Errorf("%s: %d, %q, %q; want %d, %q", code, status, msg, detail, want, told)
		}
	}
	if _, _, detail := server.Explain(&fault.Error{Code: fault.NotFound, Next: fault.Do(fault.ListAgents)}); detail != "not_found" {
		t.Errorf("the detail is %q", detail)
	}
	for _, c := range []struct {
		err    error
		status int
	}{
		{errors.New("disk full"), 500},
		{buffer.ErrClosed, 503},
		{&session.DamageError{Path: "conversations/x.json", Problem: "torn"}, 500},
		{server.UploadError(io.ErrUnexpectedEOF), 400},
		{server.UploadError(&fs.PathError{Op: "write", Path: "bough-upload-1", Err: errors.New("no space left on device")}), 500},
	} {
		if status, msg, _ := server.Explain(c.err); status != c.status || msg == "" {
			t.Errorf("%v: %d, %q", c.err, status, msg)
		}
	}
}
