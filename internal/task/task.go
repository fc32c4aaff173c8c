// Package task keeps what was found in conversations that are being watched for
// tasks: which messages somebody has looked at, and what they are about.
//
// It stores .bough/tasks.jsonl: one JSON object on a line for each batch of messages
// that was given to somebody who looks for tasks, oldest first; see [Record]. Lines
// are only added. What stands after the last line break is no line: it is being
// written, or was never finished. A line that is no record is passed over, and so are
// members that are not known. The file is derived from the sessions: who deletes it
// has everything looked at again.
//
// # Messages
//
// A message that is tracked is pending until a record says that it was looked at with
// success, or that it failed for the [Attempts]th time. It is known by its id alone.
// So what is copied with a branch or a checkpoint is in the copy what it is where it
// came from, and is looked at once.
//
// # Tasks
//
// A task is anchored at the last message of the batch in which it was found, and is
// visible on the paths that go through that message: never in a branch that leaves
// the conversation before it. A batch in which it changes adds a version of it,
// anchored there. A path has of each task the version that is anchored the farthest
// from its root, so a task that changes in one branch is in the other what it was.
//
// All of this is decided here, without reading or writing anything.
package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Path is the path inside the workspace of the file with the records.
const Path = ".bough/tasks.jsonl"

// Attempts is how often a message is looked at without success before it stays
// failed.
const Attempts = 3

// A Status is how far a task is, or the looking at a message. The names are
// Acontext's.
type Status string

const (
	Pending   Status = "pending"
	Running   Status = "running"
	Success   Status = "success"
	Failed    Status = "failed"
	Untracked Status = "disable_tracking" // of a message: nobody is to look at it
)

// Valid reports whether s is what a task may be.
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
	Session  string // the line it was found in: the id of its first file
	Message  string // its anchor: the last message of the batch that it comes from
	Branch   string // of the anchor: the first message after the fork, of the original branch the root
	Order    int    // from 1, in its line
	Data     json.RawMessage
	Status   Status
	Planning bool
	Created  time.Time // the first version
	Updated  time.Time // this version
	Messages []string  // that it is about
}

// Description returns what is to be done.
func (t *Task) Description() string { return gjson.GetBytes(t.Data, "task_description").Str }

// MaxData is how large the data of a task may be, in bytes.
const MaxData = 64 << 10

// CheckData says what is wrong with the data of a task, nil if nothing is. It is an
// object with the string task_description, which is not empty; where it has
// progresses or user_preferences these are arrays of strings, or null, and
// sop_thinking is a string, or null. Other members may be anything.
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
