package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bough-dev/bough/internal/testdatabase"
)

// TestWatchDatabase: 'bough watch --import' imports a database that its program has open, and again
// when its log grows.
func TestWatchDatabase(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no interrupt")
	}
	dir := t.TempDir()
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	path := filepath.Join(dir, "data", "opencode", "opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	statements, err := os.ReadFile(filepath.Join("..", "..", "convert", "testdata", "databases", "opencode", "sessions.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db := testdatabase.Open(t, path)
	testdatabase.Run(t, db, "PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=off;"+string(statements))
	f := startWatch(t, filepath.Join(dir, "ws"), "--import", "--from", "opencode")
	f.want("conversation_imported", "conversation.status", "new", "conversation.messages", "6", "conversation.path", path)
	f.want("conversation_imported", "conversation.status", "new", "conversation.messages", "2", "conversation.begun_by", "ses_0123456789abABCDEFGHIJKLMN")
	testdatabase.Run(t, db, `INSERT INTO message SELECT 'msg_06', session_id, 1769940006000, 0, '{"role":"user","time":{"created":1769940006000}}' FROM message WHERE id = 'msg_05';
		INSERT INTO part VALUES('prt_41', 'msg_06', 'ses_0123456789abABCDEFGHIJKLMN', 0, 0, '{"type":"text","text":"And fish?"}')`)
	f.want("conversation_imported", "conversation.status", "updated", "conversation.messages", "7")
	f.stop()
}
