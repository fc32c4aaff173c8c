package mirrorer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/bough-dev/bough/workspace/provenance"
	"github.com/tidwall/gjson"
)

// takeAttachment stores an attachment, before anything refers to it.
func takeAttachment(tx *store.Tx, c mirror.Content) ([]mirror.Left, error) {
	if tx.Batch.Len() > 0 {
		return nil, errLater
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.Data)), nil }
	err := tx.KeepFile(lines.File{SHA256: c.SHA256, Open: open})
	if err != nil && errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	if err != nil {
		return leaveFor(tx, c.SHA256, err)
	}
	return nil, nil
}

// takeLearnings appends the learnings that the workspace lacks. That is not logged.
func (a *applying) takeLearnings(ctx context.Context, w *store.Store) error {
	if len(a.changes.Learnings) == 0 {
		return nil
	}
	return w.WithLock(ctx, operation.Pull, func(root *os.Root) error {
		data, err := store.ReadRegular(root, store.LearningsPath)
		if err != nil {
			return err
		}
		have := map[string]bool{}
		for line := range bytes.Lines(data) {
			have[string(bytes.TrimRight(line, "\n"))] = true
		}
		var added []byte
		if n := len(data); n > 0 && data[n-1] != '\n' {
			added = []byte("\n") // after an incomplete line
		}
		for _, l := range a.changes.Learnings {
			if rawjson.Check(l) != nil || bytes.ContainsAny(l, "\r\n") {
				a.done.Left = append(a.done.Left, mirror.Left{What: "learning", Why: "it is not one line of JSON"})
			} else if !have[string(l)] {
				have[string(l)] = true
				added = slices.Concat(added, l, []byte("\n"))
			}
		}
		if len(bytes.TrimSpace(added)) == 0 {
			return nil
		}
		_, err = durable.Append(root, store.LearningsPath, added)
		return err
	})
}

// takeOrigins records where sessions and agents come from. That is not logged.
func takeOrigins(ctx context.Context, w *store.Store, list []provenance.Origin) error {
	if len(list) == 0 {
		return nil
	}
	return w.WithLock(ctx, operation.Pull, func(root *os.Root) error { return store.AddOrigins(root, list) })
}

// Publish records that other workspaces may have messages, before they can: an open one of them is
// no longer replaced by a longer import.
func Publish(ctx context.Context, w *store.Store, messages []mirror.Ref) error {
	return w.WithLock(ctx, operation.Pull, func(root *os.Root) error {
		list := make([]store.Published, len(messages))
		for i, m := range messages {
			list[i] = store.Published{Session: m.Session, Message: m.Message}
		}
		return store.Publish(root, list)
	})
}

// publishOpen is Publish for the open ones of messages that are to be added to a session.
func publishOpen(tx *store.Tx, id string, raws [][]byte) error {
	var list []store.Published
	for _, raw := range raws {
		if bytes.Contains(raw, []byte(session.OwnOpen)) && gjson.GetBytes(raw, "metadata.bough."+session.OwnOpen).Bool() {
			list = append(list, store.Published{Session: id, Message: gjson.GetBytes(raw, "id").String()})
		}
	}
	return store.Publish(tx.View.Root, list)
}
