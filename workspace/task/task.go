// Package task records the tasks that were found in conversations, and which
// messages have been processed.
//
// It stores .bough/tasks.jsonl: one JSON object per line for each batch of messages
// that was processed, oldest first; see [Record]. Lines are only appended. Bytes
// after the last line break are ignored: they are being written, or were never
// completed. Invalid lines and unknown members are skipped. The file is derived
// from the sessions: if it is deleted, all messages are processed again.
//
// # Messages
//
// A tracked message is pending until a record reports success, or the [Attempts]th
// failure. It is identified by its id alone, so a message that was copied to a
// branch or a checkpoint has the same state there, and is processed once.
//
// # Tasks
//
// A task is anchored at the last message of the batch in which it was found, and is
// visible on the paths through that message, but not in branches that leave the
// conversation before it. A batch that changes a task adds a version, anchored at
// its own last message. A path has the version of each task that is anchored
// farthest from its root, so a task that changes in one branch is unchanged in
// others.
//
// The package is pure: it does not read or write files.
package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Path is the path of the file with the records, relative to the workspace.
const Path = ".bough/tasks.jsonl"

// Attempts is the number of failures after which a message stays failed.
const Attempts = 3

// A Status is the status of a task or of the processing of a message. The names are
// Acontext's.
type Status string

const (
	Pending   Status = "pending"
	Running   Status = "running"
	Success   Status = "success"
	Failed    Status = "failed"
	Untracked Status = "disable_tracking" // of a message: it is not processed
)

// Valid reports whether s is a valid status of a task.
func (s Status) Valid() bool {
	switch s {
	case Pending, Running, Success, Failed:
		return true
	}
	return false
}

// A Task is one version of a task.
type Task struct {
	ID       string // a UUID, version 4, the same in all versions
	Session  string // the line in which it was found: the id of its first file
	Message  string // its anchor: the last message of its batch
	Branch   string // of the anchor: the first message after the fork, or the root
	Order    int    // from 1, in its line
	Data     json.RawMessage
	Status   Status
	Planning bool
	Created  time.Time // of the first version
	Updated  time.Time // of this version
	Messages []string  // the messages to which it refers
}

// Description returns the description of the task.
func (t *Task) Description() string { return gjson.GetBytes(t.Data, "task_description").Str }

// MaxData is the maximum size of a task's data in bytes.
const MaxData = 64 << 10

// CheckData returns why the data of a task is invalid, or nil. It must be an object
// with a non-empty string task_description; progresses and user_preferences, if
// present, must be arrays of strings or null, and sop_thinking a string or null.
// Other members may be anything.
func CheckData(data json.RawMessage) error {
	switch {
	case len(data) > MaxData:
		return fmt.Errorf("the data of a task has %d bytes, over %d", len(data), MaxData)
	case !utf8.Valid(data) || !json.Valid(data):
		return errors.New("the data of a task is not JSON")
	}
	object := gjson.ParseBytes(data)
	if !object.IsObject() {
		return errors.New("the data of a task is not an object")
	}
	if d := object.Get("task_description"); d.Type != gjson.String || d.Str == "" {
		return errors.New("a task has no task_description")
	}
	if s := object.Get("sop_thinking"); s.Exists() && s.Type != gjson.String && s.Type != gjson.Null {
		return errors.New("sop_thinking is not a string")
	}
	for _, name := range []string{"progresses", "user_preferences"} {
		if err := checkTexts(name, object.Get(name)); err != nil {
			return err
		}
	}
	return nil
}

func checkTexts(name string, list gjson.Result) error {
	if !list.Exists() || list.Type == gjson.Null {
		return nil
	}
	if !list.IsArray() {
		return fmt.Errorf("%s is not an array", name)
	}
	for _, e := range list.Array() {
		if e.Type != gjson.String {
			return fmt.Errorf("%s holds something that is not a string", name)
		}
	}
	return nil
}
