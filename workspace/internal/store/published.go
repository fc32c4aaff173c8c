package store

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
)

// PublishedPath lists the open messages that other workspaces may have, so that they must stay.
const PublishedPath = StateDir + "/published.jsonl"

// A Published is an open message that other workspaces may have, a line of the file.
type Published struct {
	Session string `json:"session_id"`
	Message string `json:"message_id"`
}

// IsPublished reports whether other workspaces may have an open message of a session.
func (v *View) IsPublished(session, message string) bool {
	if v.published == nil {
		v.published = map[Published]bool{}
		data, err := ReadRegular(v.Root, PublishedPath)
		v.Warn("the list of published messages cannot be read", err)
		for line := range bytes.Lines(data) {
			var p Published
			if json.Unmarshal(line, &p) == nil {
				v.published[p] = true
			}
		}
	}
	return v.published[Published{session, message}]
}

// Publish adds open messages to the list. The caller must hold the lock.
func Publish(root *os.Root, list []Published) error {
	if len(list) == 0 {
		return nil
	}
	data, err := ReadRegular(root, PublishedPath)
	if err != nil {
		return err
	}
	var added []byte
	if n := len(data); n > 0 && data[n-1] != '\n' {
		added = []byte("\n") // after an incomplete line
	}
	for _, p := range list {
		line := append(rawjson.Compact(p), '\n')
		if !bytes.Contains(data, line) {
			added = append(added, line...)
		}
	}
	if len(bytes.TrimSpace(added)) == 0 {
		return nil
	}
	_, err = durable.Append(root, PublishedPath, added)
	return err
}
