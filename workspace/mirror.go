package workspace

import (
	"context"

	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/mirrorer"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/mirror"
)

// A Mirror exchanges the contents of a workspace with other workspaces. Package mirror describes
// the values.
type Mirror struct{ w *Workspace }

// Mirror returns the mirror of the workspace.
func (w *Workspace) Mirror() Mirror { return Mirror{w} }

// Facts returns what the workspace has. It takes no lock. Sessions of which known has the version
// are not read. A session that cannot be read is omitted with a note: content that is missing in the
// facts was removed only if [mirror.Facts.Since] says so.
func (m Mirror) Facts(ctx context.Context, known mirror.Known) (*mirror.Facts, error) {
	return mirrorer.Facts(ctx, m.w.store, known)
}

// Messages returns the messages in the file of a session, whose id is given, with the header of a
// continuation, in the order of the file. For a packed checkpoint they are the messages of its plain file.
func (m Mirror) Messages(ctx context.Context, session string) ([]mirror.Message, error) {
	return mirrorer.Messages(ctx, m.w.store, session)
}

// Several returns the results of [Mirror.Messages] for the first of the sessions and for those
// after it, until limit bytes are reached or a session cannot be read. It opens the workspace once.
// It returns an error only if the first session cannot be read.
func (m Mirror) Several(ctx context.Context, sessions []string, limit int) ([][]mirror.Message, error) {
	return mirrorer.Several(ctx, m.w.store, sessions, limit)
}

// Line returns the id of the first session of a conversation, which is named by an id or a title.
func (m Mirror) Line(ctx context.Context, name string) (string, error) {
	return mirrorer.Line(ctx, m.w.store, name)
}

// Attachment returns the content of the attachment with a SHA-256.
func (m Mirror) Attachment(ctx context.Context, sha256 string) ([]byte, error) {
	return mirrorer.Attachment(ctx, m.w.store, sha256)
}

// Publish records that other workspaces may have messages. It must be called before they can have a
// message that is open, see docs/format.md 23.9: a longer import then no longer replaces it, but is
// added beside it. For other messages it is not needed. It is not logged.
func (m Mirror) Publish(ctx context.Context, messages []mirror.Ref) error {
	return mirrorer.Publish(ctx, m.w.store, messages)
}

// Apply applies changes. It adds a message to the file of the same session as on the other machine,
// even if that file is full. If the head of the workspace was at the end of a conversation, it
// moves to the new end; otherwise it does not move. Invalid input, input that contradicts the
// workspace, and an agent that is running a turn are omitted, and the result says why; a session is
// never created without all of its messages. Packed checkpoints become plain files.
//
// The operations form one group, which [Workspace.Undo] reverts; explorations, learnings and
// attachments stay. If Apply returns an error, some of the operations may have been made; calling
// it again makes the others. Without any difference it does nothing.
func (m Mirror) Apply(ctx context.Context, c mirror.Changes) (*mirror.Applied, error) {
	return mirrorer.Apply(ctx, m.w.store, c)
}

// Files returns the states of folders that the workspace has, with the sessions to which they
// belong. Files searches the sessions for which scan returns true for messages that refer to
// states, and for prompts for which states were taken. If scan is nil, no session is searched.
func (m Mirror) Files(ctx context.Context, scan func(session string) bool) (*mirror.Files, error) {
	return folders.Travelling(ctx, m.w.store, scan)
}

// SendFiles passes the objects that states need to each, as packs, except the known ones. It
// returns the SHA-256 of those contents that were deleted permanently, which are never passed. A
// state that is damaged, or that other workspaces would refuse, is omitted.
func (m Mirror) SendFiles(ctx context.Context, states []string, known func(mirror.Object) bool, each func(pack []byte, objects []mirror.Object) error) (forgotten []string, left []mirror.Left, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Send(ctx, m.w.store, states, known, each)
}

// NeededObjects returns the objects that states of the workspace need, without content that was deleted
// permanently.
func (m Mirror) NeededObjects(ctx context.Context, states []string) (_ []mirror.Object, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Needs(ctx, m.w.store, states)
}

// TakeFiles receives states of other machines. supply returns a pack that has an object, and an error
// with the code NotFound if there is none. Everything is checked before anything is stored: a state
// that is not complete, that could harm a folder, or that is malformed is omitted. States that the
// workspace has already get only links that are new. Content that was deleted permanently here stays
// so. It is not an operation: undo does not revert it.
//
// Folders of other machines are recorded as such: no directory here is one of them.
func (m Mirror) TakeFiles(ctx context.Context, f mirror.Files, supply func(mirror.Object) (*mirror.Pack, error)) (_ *mirror.FilesTaken, err error) {
	defer func() { err = store.Explained(err) }()
	return folders.Receive(ctx, m.w.store, f, supply)
}
