package ignore

import (
	"bytes"
	"strings"
)

// A Reason says why an entry belongs to no state although no pattern ignores it. The zero
// value means that it may belong to one.
type Reason string

const (
	VersionControl Reason = "version control"     // the data of git and others
	GitData        Reason = "data of git"         // under a name that does not say so
	Workspace      Reason = "workspace of bough"  // what bough itself writes
	Dependencies   Reason = "installed packages"  // of Node
	Bytecode       Reason = "compiled Python"     //
	Environment    Reason = "virtual environment" // of Python
	Cache          Reason = "tagged as a cache"   // with a valid CACHEDIR.TAG
	Temporary      Reason = "temporary file of bough"
)

// Always reports whether not even a file that git tracks belongs to a state.
func (r Reason) Always() bool { return r == VersionControl || r == Workspace || r == Temporary }

// Marks are what the entries of a directory say about it.
type Marks uint16

const (
	environment Marks = 1 << iota
	cacheTag
	workspace
	gitHead
	gitObjects
	gitRefs

	// Directories of a workspace in which bough writes, beside what the user may have there.
	conversations
	agents
	explorations
	attachments
	packed
	states
)

// shared are the marks of directories that can have files of bough and of the user.
const shared = conversations | agents | explorations | attachments | packed | states

// gitMarks are those of the data of git, whatever its directory is called: it can be a bare
// repository, or the data of one that is elsewhere.
const gitMarks = gitHead | gitObjects | gitRefs

// CacheTag is the name of the file that tags a directory as a cache, if it begins with a
// signature. MaxTag is the number of bytes that decide.
const (
	CacheTag = "CACHEDIR.TAG"
	MaxTag   = len(signature)
)

// EnvironmentFile, WorkspaceFolder and those of git are names of entries that say what a
// directory is.
const (
	EnvironmentFile = "pyvenv.cfg"
	WorkspaceFolder = ".bough"
	GitHead         = "HEAD"
	GitObjects      = "objects"
	GitRefs         = "refs"
)

// signature is that of the Cache Directory Tagging Specification 0.6 (bford.info/cachedir).
const signature = "Signature: 8a477f597d28d172789f06886806bc55"

// Mark returns what an entry says about its directory. The marks of all entries are combined
// with |.
func Mark(name string, isDir bool) Marks {
	switch {
	case name == EnvironmentFile && !isDir:
		return environment
	case name == CacheTag && !isDir:
		return cacheTag
	case name == WorkspaceFolder && isDir:
		return workspace
	case name == GitHead && !isDir:
		return gitHead
	case name == GitObjects && isDir:
		return gitObjects
	case name == GitRefs && isDir:
		return gitRefs
	}
	return 0
}

// Tagged reports whether the file [CacheTag] of the directory must be read.
func (m Marks) Tagged() bool { return m&cacheTag != 0 }

// Whole returns why nothing in a directory with these marks belongs to a state. Tag has the
// first [MaxTag] bytes of its file [CacheTag], or nothing.
func (m Marks) Whole(tag []byte) Reason {
	switch {
	case m&gitMarks == gitMarks:
		return GitData
	case m&environment != 0:
		return Environment
	case m.Tagged() && bytes.HasPrefix(tag, []byte(signature)):
		return Cache
	}
	return ""
}

// Inside returns the marks that a subdirectory has because of where it is.
func (m Marks) Inside(name string) Marks {
	if m&workspace == 0 {
		return 0
	}
	switch name {
	case "conversations":
		return conversations
	case "agents":
		return agents
	case "explorations":
		return explorations
	case "files":
		return attachments
	case "packed":
		return packed
	case "states":
		return states
	}
	return 0
}

// Shared reports whether bough writes in the directory, so that it belongs to a state only if
// a file in it does.
func (m Marks) Shared() bool { return m&shared != 0 }

// BuiltIn returns why an entry of a directory with these marks belongs to no state. What
// bough writes is only in its workspaces, which have a folder .bough.
func (m Marks) BuiltIn(name string, isDir bool) Reason {
	switch {
	case strings.EqualFold(name, ".git"): // also a file, in worktrees and submodules
		return VersionControl
	case strings.HasSuffix(name, ".bough-tmp"):
		return Temporary
	case isDir && m.isOwnDir(name), !isDir && m.isOwnFile(name):
		return Workspace
	case m&gitMarks == gitMarks && isGits(name):
		return GitData
	case !isDir:
		return ""
	}
	switch name {
	case ".hg", ".svn", ".jj", ".bzr", ".sl", ".pijul", "_darcs":
		return VersionControl
	case "node_modules":
		return Dependencies
	case "__pycache__":
		return Bytecode
	}
	return ""
}

// Decides reports whether an entry with a name is among those for which [Marks.Whole] has a
// reason.
func (r Reason) Decides(name string) bool {
	switch name {
	case CacheTag:
		return r == Cache
	case EnvironmentFile:
		return r == Environment
	case GitHead, GitObjects, GitRefs:
		return r == GitData
	}
	return false
}

// isGits reports whether git writes an entry of a directory that has its data.
func isGits(name string) bool {
	switch name {
	case GitHead, GitObjects, GitRefs, "index", "packed-refs", "logs", "worktrees", "modules", "lfs",
		"config", "config.worktree", "description", "hooks", "info", "branches", "shallow", "COMMIT_EDITMSG":
		return true
	}
	return strings.HasSuffix(name, "_"+GitHead) // such as FETCH_HEAD
}
