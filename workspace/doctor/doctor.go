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
	LostAgentHead      = "lost_agent_head"
	LeftOver           = "left_over"
	PendingForget      = "pending_forget"
	DamagedLog         = "damaged_log"
	LostAttachment     = "lost_attachment"
	DamagedAttachment  = "damaged_attachment"
	SpecialFile        = "special_file"
)

// A KindInfo describes a kind of problem and how Workspace.Doctor repairs it.
type KindInfo struct {
	Kind   string
	About  string
	Repair string // "" if the user has to decide
}

// Kinds describes all kinds of problems.
var Kinds = []KindInfo{
	{DamagedSession, "a session file is torn or malformed", "a torn one is cut back to its whole messages, or Penguin's copy replaces it"},
	{UnreadableSession, "the system does not let us read a session file", ""},
	{DamagedCheckpoint, "a checkpoint that Penguin keeps for itself cannot be read", ""},
	{BetterCopy, "Penguin's copy of a session is newer and has messages that it has not", "the copy replaces it if it is the same and more"},
	{OpenToAll, "every user of this machine may change a file", "the permission is removed for others"},
	{DamagedIndex, "the index is torn, or not a JSON object", "it is rebuilt from the session files"},
	{StaleIndex, "the index is missing, or does not match the session files", "it is rebuilt from them"},
	{StaleCache, "the cache of a session does not match its file", "it is forgotten"},
	{MissingAncestor, "a session continues a missing one", ""},
	{Cycle, "the origins of sessions, or the parents of messages, form a cycle", ""},
	{OneSidedLink, "a session lacks the link to its continuation", "the link is added"},
	{OrphanMessage, "the parent of a message is missing; it is treated as a root; a note if its transcript lacks the parent too", ""},
	{JoinedMessage, "a note: messages whose parent is missing follow others by a join", ""},
	{DuplicateID, "two files of a line have different messages under one id", ""},
	{ForeignID, "a session file gives itself another id; its name counts", ""},
	{ConflictCopy, "a program that synchronises folders made a copy of a session, which is not a session", ""},
	{BrokenSeal, "another program changed a checkpoint; what was sealed is the checkpoint", ""},
	{MixedDialects, "links are written in part as bough does, in part as Penguin does", "with --dialect, all are written in that one"},
	{LostHead, "the head points nowhere", "it goes to the trash"},
	{DamagedBookmarks, "the bookmarks file is torn or malformed", "it goes to the trash"},
	{LostBookmark, "the message of a bookmark is missing, in the trash too", "the bookmark is taken away"},
	{DamagedAgent, "the file of an agent is torn or malformed", "its last content in the log replaces it, if the log has one"},
	{LostTree, "a tree of an agent is missing", ""},
	{SharedTree, "two agents have the same tree", ""},
	{DamagedExploration, "the file of an exploration, or the settings for them, cannot be read", ""},
	{LostAgentHead, "the head of an agent points nowhere", "it moves to the newest leaf of its tree, or of the newest tree that is there"},
	{DamagedLog, "the log of operations cannot be read, is broken, or has lines that are not operations", "it goes to the trash, and a file is replaced by one with the lines that are operations"},
	{LostAttachment, "a message refers to an attachment that is not there", ""},
	{DamagedAttachment, "the content of an attachment does not match its hash", ""},
	{SpecialFile, "a named pipe, a socket or a device is in the place of a file or folder; it is not opened", ""},
	{LeftOver, "a note: a write that did not end left a temporary file", "it is removed, as by any command that writes"},
	{PendingForget, "a note: a forget was interrupted; a problem if its plan is damaged", "it is completed, as by any command that writes; a damaged file goes to the trash, and the user forgets again"},
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
