// Package doctor has the options and results of checking a workspace: problems,
// and the conflict copies of file-synchronization programs. The kinds of
// problems are a contract with programs; docs/doctor.md describes them.
package doctor

// A Problem is a problem in a workspace.
type Problem struct {
	Kind   string `json:"kind"`
	Path   string `json:"path"`   // relative to the workspace, with slashes
	Detail string `json:"detail"` // one sentence for the user
	Fixed  bool   `json:"fixed"`
	Note   bool   `json:"note,omitempty"` // harmless: another program wrote it this way
}

// The kinds of problems, described in [Kinds].
const (
	DamagedSession     = "damaged_session"
	UnreadableSession  = "unreadable_session"
	DamagedCheckpoint  = "damaged_checkpoint"
	BetterCopy         = "better_copy"
	OpenToAll          = "open_to_all"
	DamagedIndex       = "damaged_index"
	StaleIndex         = "stale_index"
	StaleCache         = "stale_cache"
	MissingAncestor    = "missing_ancestor"
	Cycle              = "cycle"
	OneSidedLink       = "one_sided_link"
	OrphanMessage      = "orphan_message"
	JoinedMessage      = "joined_message"
	DuplicateID        = "duplicate_id"
	ForeignID          = "foreign_id"
	ConflictCopy       = "conflict_copy"
	BrokenSeal         = "broken_seal"
	MixedDialects      = "mixed_dialects"
	LostHead           = "lost_head"
	DamagedBookmarks   = "damaged_bookmarks"
	LostBookmark       = "lost_bookmark"
	DamagedAgent       = "damaged_agent"
	LostTree           = "lost_tree"
	SharedTree         = "shared_tree"
	DamagedExploration = "damaged_exploration"
	DamagedState       = "damaged_state"
	UnfinishedRestore  = "unfinished_restore"
	LostAgentHead      = "lost_agent_head"
	LeftOver           = "left_over"
	PendingForget      = "pending_forget"
	DamagedLog         = "damaged_log"
	LostAttachment     = "lost_attachment"
	DamagedAttachment  = "damaged_attachment"
	SpecialFile        = "special_file"
	DamagedPack        = "damaged_pack"
	UnusedPack         = "unused_pack"
	HiddenRecipe       = "hidden_recipe"
	FailedHook         = "failed_hook"
)

// A KindInfo describes a kind of problem and how Workspace.Doctor repairs it.
type KindInfo struct {
	Kind   string
	About  string
	Repair string // "" if the user has to decide
}

// Kinds describes all kinds of problems.
var Kinds = []KindInfo{
	{DamagedSession, "a session file is truncated or malformed", "a truncated file is reduced to its complete messages, or replaced by Penguin's copy"},
	{UnreadableSession, "a session file cannot be read, for lack of permission or another error", ""},
	{DamagedCheckpoint, "a checkpoint of Penguin cannot be read", ""},
	{BetterCopy, "Penguin's copy of a session is newer and has messages that the session lacks", "the copy replaces the session if it has all of its messages"},
	{OpenToAll, "every user of this machine can change a file", "the permission of other users is removed"},
	{DamagedIndex, "the index is truncated, or not a JSON object", "it is rebuilt from the session files"},
	{StaleIndex, "the index is missing, or does not match the session files", "it is rebuilt from the session files"},
	{StaleCache, "the cache of a session does not match its file", "it is deleted"},
	{MissingAncestor, "a session continues a session that is missing", ""},
	{Cycle, "the origins of sessions, or the parents of messages, form a cycle", ""},
	{OneSidedLink, "a session lacks the link to its continuation", "the link is added"},
	{OrphanMessage, "the parent of a message is missing, so the message is treated as a root; a note if the imported transcript lacked the parent too", ""},
	{JoinedMessage, "a note: messages whose parent is missing were joined to others", ""},
	{DuplicateID, "two files of a conversation have different messages with the same id", ""},
	{ForeignID, "the id in a session file differs from the file's name, which is used", ""},
	{ConflictCopy, "a file-synchronization program made a copy of a session, because two machines changed it", ""},
	{BrokenSeal, "another program changed a checkpoint; only the sealed messages belong to it", ""},
	{MixedDialects, "some links are in bough's dialect, others in Penguin's", "if a dialect is given, all are rewritten in it"},
	{LostHead, "the head refers to a message that does not exist", "it is moved to the trash"},
	{DamagedBookmarks, "the bookmarks file is truncated or malformed", "it is moved to the trash"},
	{LostBookmark, "the message of a bookmark is missing, also from the trash", "the bookmark is removed"},
	{DamagedAgent, "the file of an agent is truncated or malformed", "it is replaced with its last content in the log, if the log has it"},
	{LostTree, "a tree of an agent is missing", ""},
	{SharedTree, "two agents own the same tree", ""},
	{DamagedState, "a file of the states of folders has a damaged part; the other states can be used", "damaged lines are moved to the trash, and the list of folders is rebuilt; a pack stays as it is"},
	{UnfinishedRestore, "a restore of the files of a folder was interrupted", "it is completed, as by the next command that changes the workspace; a damaged journal is moved to the trash"},
	{DamagedExploration, "the file of an exploration, or the settings for explorations, cannot be read", ""},
	{LostAgentHead, "the head of an agent refers to a message that does not exist", "it is moved to the newest leaf of its tree, or of the newest existing tree"},
	{DamagedLog, "the log of operations cannot be read, or has lines that are not operations", "it is moved to the trash and replaced by a log with the valid lines"},
	{LostAttachment, "a message refers to an attachment that is missing", ""},
	{DamagedAttachment, "the content of an attachment does not match its hash", ""},
	{SpecialFile, "a named pipe, a socket or a device was found instead of a file or folder; it is not opened", ""},
	{DamagedPack, "a pack has a damaged part, which affects every packed checkpoint that needs one of its messages; a note if none does, as after an interrupted write", "the messages are restored from sessions and packs that still have them; those that no file has are lost, and the others remain readable"},
	{UnusedPack, "a note: no packed checkpoint needs a pack", "it is moved to the trash"},
	{HiddenRecipe, "a note: a session file hides a packed checkpoint with the same id", "it is moved to the trash if its plain file would have the same bytes as the session file"},
	{FailedHook, "a note: hooks of assistants failed in the last seven days", ""},
	{LeftOver, "a note: an interrupted write left a temporary file", "it is removed, as by the next command that writes"},
	{PendingForget, "a note: a forget was interrupted; a problem if the file with its plan is damaged", "it is completed, as by the next command that writes; a damaged plan is moved to the trash, and forget has to be repeated"},
}

// A Report is the result of Workspace.Doctor.
type Report struct {
	OK       bool      `json:"ok"` // no problem, or all fixed; notes do not count
	Problems []Problem `json:"problems"`
}

// Options are the choices for checking a workspace.
type Options struct {
	// Fix repairs problems that can be repaired without loss; see [Kinds]. Replaced
	// files go to the trash. A damaged file that changed within Options.Settle of
	// package workspace may still be written by another program: Fix waits until it
	// is intact or stable, and otherwise leaves it.
	Fix bool

	// Dialect, with Fix, rewrites all links between sessions in one dialect: "bough"
	// or "penguin". Empty rewrites nothing.
	Dialect string
}

// A MergeStatus is the result for a conflict copy.
type MergeStatus string

// The results for a conflict copy.
const (
	CopyMerged    MergeStatus = "merged"    // its messages were added to the session
	CopyContained MergeStatus = "contained" // the session had all of its messages
	CopyRestored  MergeStatus = "restored"  // the session did not exist and was created from the copy
	CopyRefused   MergeStatus = "refused"   // it contradicts the session and was left in place
)

// A MergedCopy is the result for one conflict copy.
type MergedCopy struct {
	Path     string      `json:"path"` // relative to the workspace
	Session  string      `json:"session_id"`
	Status   MergeStatus `json:"status"`
	Messages int         `json:"added"`  // messages that were added to the session
	Detail   string      `json:"detail"` // why it was refused, else ""
}

// MergedCopies are the results for all conflict copies.
type MergedCopies struct {
	Copies []MergedCopy `json:"copies"`
}

// A ConflictFile is a file that a file-synchronization program created beside a
// session because two machines had changed it. It is not a session.
type ConflictFile struct {
	Path string // relative to the workspace
	ID   string // of the session; "session_index" for a copy of the index
}
