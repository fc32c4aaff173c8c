package trash

import (
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// MarshalJSON implements [json.Marshaler].
func (t File) MarshalJSON() ([]byte, error) { return rawjson.Answer(t), nil }

// PurgeOptions select the files to delete.
type PurgeOptions struct {
	// MinAge is how long a file must have been in the trash. Zero means that every
	// file is deleted.
	MinAge time.Duration
}

// A File is a file in the trash.
type File struct {
	File      string     `json:"file"`       // the original path in the workspace
	Session   session.ID `json:"session_id"` // null if it is not a session
	Title     string     `json:"title"`      // of the session: its title, else the user's first words; "" if the beginning of the file has neither
	Path      string     `json:"path"`       // absolute path in the trash
	RemovedAt time.Time  `json:"removed_at"` // when it was moved there
	Bytes     int64      `json:"bytes"`      // size of the file
}

// A List lists the files in the trash, last removed first.
type List struct {
	Files []File `json:"trash"`
}
