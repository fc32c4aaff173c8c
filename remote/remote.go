// Package remote exchanges the contents of a workspace with those of other machines, through a
// store in which each machine has a stream of records.
//
// [Remote.Push] compares the workspace with what it has published, writes what differs as records
// of its own stream and uploads them. [Remote.Pull] reads the records of the other machines, joins
// them and applies the result to the workspace as one group of operations, or as several if it is
// large. Nothing is removed from a workspace unless a user removed it, on any machine, and a
// conflict keeps both sides.
//
// A workspace stores its part of a remote in the folder .bough/remotes/NAME: the configuration, the
// key of the machine, the records that are not uploaded, and the result of the last comparison. The
// key of the remote is a file of the user, outside of the workspace.
package remote

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/bough-dev/bough/workspace/project"
)

// Options are how remotes are reached. The zero value is the default.
type Options struct {
	// OpenStore opens the store at a URL. It is not called for those with the scheme file. If nil,
	// other schemes are refused.
	OpenStore func(ctx context.Context, url string) (bucket.Store, error)

	// Progress is called during long work. If nil, it is not called.
	Progress func(Progress)

	// Note is called with a sentence about a problem that is not an error. If nil, it is not called.
	Note func(string)

	// Now returns the current time. If nil, time.Now is used. No merge depends on it.
	Now func() time.Time

	// Person is the name of the person who uses this machine, for remotes that were added without
	// one. It is published. "" publishes nothing.
	Person string

	// System returns the identifier of the machine on which the program runs, followed by the
	// identifiers that earlier versions used. It is called for remotes with Synced. If nil, these
	// are the identifier of the operating system and the host name.
	System func() ([]string, error)
}

// A Progress says how far long work is.
type Progress struct {
	Doing string // "send", "get" or "apply"
	Done  int64  // in bytes; of "apply" in sessions
	Total int64  // 0 if it is not known
}

// AddOptions describe a remote to add.
type AddOptions struct {
	URL     string
	Key     string // the file of the key of the remote, which is made if it is absent; required
	Machine string // how people call this machine; "" means its host name
	Person  string // who uses it; "" means Options.Person, also when that changes

	// Share creates a share: a remote that only has the conversations that Remote.Share adds. If
	// the remote exists, it must be a share. Add generates the key of a new share, so its file must
	// not exist. The key of an existing share must not be the key of another remote of the
	// workspace.
	Share bool

	// Refs are the references that the caller will pass to Remote.Share next. If one of them cannot
	// be shared, Add creates nothing.
	Refs []string

	Files     bool // states of files are exchanged too, unless an exchange says otherwise
	OneWriter bool // only this machine writes, so the store need not create objects only once
	Synced    bool // the store is a folder that a program copies between machines

	Store bucket.Store // the store at URL, if it is open already; nil opens it
}

// An Info describes a remote of a workspace.
type Info struct {
	Name      string         `json:"name"`
	URL       string         `json:"url"`
	ID        string         `json:"id"`
	Key       string         `json:"key"` // path of the file of the key
	Machine   record.Machine `json:"machine"`
	Label     string         `json:"machine_name"`
	Files     bool           `json:"files,omitempty"`  // states of files are exchanged too
	Person    string         `json:"person,omitempty"` // as the remote was added with
	Share     bool           `json:"share,omitempty"`  // it has only shared conversations
	OneWriter bool           `json:"one_writer,omitempty"`
	Synced    bool           `json:"synced,omitempty"`
	Problem   string         `json:"problem,omitempty"` // why the files of the remote in the workspace cannot be read; if it is not "", of the other fields only Name is set
}

// An Added is a remote that was added to a workspace.
type Added struct {
	Info
	Created   bool  `json:"created"`    // there was none at the URL before
	KeyMade   bool  `json:"key_made"`   // the file of the key is new
	KeyShared bool  `json:"key_shared"` // other users of the computer can read the file of the key
	Requests  int64 `json:"requests"`
}

// PushOptions are the choices for Push.
type PushOptions struct {
	DryRun bool  // change nothing anywhere
	Files  *bool // send states of files; nil means as the remote is set
}

// CheckOptions are the choices for Check.
type CheckOptions struct {
	// ReadData reads everything that a new machine reads, and all packs that are needed, instead of
	// only the objects that this machine has not read. The contents of the remote are then in
	// memory, except the packs.
	ReadData bool
}

// PullOptions are the choices for Pull.
type PullOptions struct {
	// Session is the id of the only session to apply, with those that it needs. "" means all.
	Session string

	// Only lists the kinds of things to apply, of [Kinds]. If it is empty, all kinds are applied; files only if
	// states of files are exchanged. A kind that is listed is always applied.
	Only []string

	Files *bool // exchange states of files; nil means as the remote is set

	DryRun bool // change nothing anywhere; what would be got is read
	Whole  bool // list all objects, which also shows missing ones
	Known  bool // do not look for new machines, which costs a request
	Cached bool // apply Session as it was read before, and request only its packs; if packs are gone, Result.Left says so
}

// Kinds are the kinds of things that a pull applies.
var Kinds = []string{"sessions", "bookmarks", "agents", "explorations", "learnings", "attachments", "files"}

// A Traffic counts what was transferred.
type Traffic struct {
	Records int   `json:"records"`
	States  int   `json:"states,omitempty"` // states of files
	Bytes   int64 `json:"bytes"`            // of objects as they are stored; of what a dry run would send, before compression
}

// A Machine is a machine of a remote.
type Machine struct {
	ID      record.Machine `json:"id"`
	Name    string         `json:"name"`
	Person  string         `json:"person,omitempty"` // who uses it
	Seen    string         `json:"seen"`             // when it wrote its last record, by its own clock; "" if unknown
	Retired bool           `json:"retired,omitempty"`
	Own     bool           `json:"own,omitempty"`
}

// A Result says what a push, a pull or both did. A conflict is not an error: both sides are kept.
type Result struct {
	Remote    string            `json:"remote"`
	Sent      Traffic           `json:"sent"`
	Got       Traffic           `json:"got"`
	Requests  int64             `json:"requests"`
	Conflicts []plan.Conflict   `json:"conflicts"`
	Machines  []Machine         `json:"machines"`
	Sessions  []string          `json:"sessions"`           // of this workspace, that a pull changed or added
	Left      []mirror.Left     `json:"left,omitempty"`     // changes that a pull could not apply; the next pull tries again
	Unshared  []string          `json:"unshared,omitempty"` // conversations that came from a share, got content from elsewhere, and are no longer sent to it
	Problems  []*stream.Problem `json:"problems,omitempty"` // why streams were not read to their end
	Renewed   bool              `json:"renewed,omitempty"`  // this workspace is a copy of another one, and became a machine of its own
	DryRun    bool              `json:"dry_run,omitempty"`  // nothing was changed
}

// A Report says what a check found.
type Report struct {
	Remote   string            `json:"remote"`
	OK       bool              `json:"ok"` // no problems, except records of retired machines that are lost, and nothing in Held, Packs and Copies
	Machines []Machine         `json:"machines"`
	Problems []*stream.Problem `json:"problems"`
	Held     []stream.Held     `json:"held"`      // records that wait for others
	Copies   []string          `json:"copies"`    // conflict copies of objects, which a program that copies folders made
	Packs    []string          `json:"bad_packs"` // packs that are needed and missing, or, with ReadData, damaged
	Newer    []string          `json:"newer"`     // names of machines that wrote data of a newer version; while there are any, this version deletes no garbage
	Requests int64             `json:"requests"`
}

// A RemoteSession is a session of a remote.
type RemoteSession struct {
	ID      string           `json:"session_id"`
	Title   string           `json:"title"`
	Owner   string           `json:"owner"`   // who made it, "" if unknown
	Project *project.Project `json:"project"` // of its folder, null if unknown
	Here    bool             `json:"here"`    // the workspace has it
	Count   int              `json:"count"`   // of messages that were added to it; undone ones count
}

// An Operation is an operation of a machine, for the log.
type Operation struct {
	Machine string          `json:"machine"` // its name
	Person  string          `json:"person"`  // who uses the machine, "" if unknown
	Own     bool            `json:"own"`
	Line    json.RawMessage `json:"operation"` // as the log of that machine shows it, in JSON
}

// A Purge is the progress of a purge.
type Purge struct {
	Session string   `json:"session_id"`
	Holders []string `json:"holders"` // names of machines whose objects still have messages of it
	Gone    []string `json:"gone"`    // those of the holders that are retired: only they could delete what they sent
	Waiting []string `json:"waiting"` // names of machines that have not seen the purge yet, and delay it
	Newer   []string `json:"newer"`   // names of machines that wrote data of a newer version; nothing is deleted until bough is updated here, or these machines are retired
}
