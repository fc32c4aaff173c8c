// Package hooklog keeps the errors of hooks in a workspace. A hook must not fail the
// program that runs it, so its errors go to a file, of which 'bough doctor' shows the last
// lines. Several processes write to it at once, which lumberjack, the log of the daemon, does
// not support: each of its writers counts the size alone and renames the file of the others.
package hooklog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/durable"
)

// Path is the path of the log in a workspace.
const Path = ".bough/hooks.log"

const (
	maxSize = 64 << 10 // of the log; then its first half is dropped
	maxLine = 2 << 10
)

// Add adds a line with the time and text to the log. It creates no folder.
func Add(root *os.Root, now time.Time, text string) error {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine], "") + "…"
	}
	if _, err := root.Stat(path.Dir(Path)); err != nil {
		return err
	}
	if info, err := root.Stat(Path); err == nil && info.Size() > maxSize {
		if err := halve(root); err != nil {
			return err
		}
	}
	_, err := durable.Append(root, Path, fmt.Appendf(nil, "%s %s\n", now.UTC().Format(time.RFC3339), text))
	return err
}

// halve drops the first half of the log.
func halve(root *os.Root) error {
	data, err := durable.ReadFile(root, Path)
	if err != nil {
		return err
	}
	data = data[len(data)/2:]
	_, data, _ = bytes.Cut(data, []byte("\n"))
	_, err = durable.Replace(root, Path, durable.Bytes(data))
	return err
}

// An Entry is a line of the log.
type Entry struct {
	Time time.Time
	Text string
}

// Since returns the lines of the log from a time on. Lines that cannot be parsed are
// ignored.
func Since(root *os.Root, from time.Time) ([]Entry, error) {
	data, err := durable.ReadFile(root, Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Entry
	for line := range strings.Lines(string(data)) {
		at, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		t, timeErr := time.Parse(time.RFC3339, at)
		if ok && timeErr == nil && !t.Before(from) {
			list = append(list, Entry{t, text})
		}
	}
	return list, err
}
