package ignore

import "strings"

// isOwnDir reports whether a subdirectory has only what bough writes.
func (m Marks) isOwnDir(name string) bool {
	return m&workspace != 0 && name == WorkspaceFolder || m&states != 0 && name == "restoring"
}

// isOwnFile reports whether bough writes a file. Others in the same directory are the user's.
func (m Marks) isOwnFile(name string) bool {
	base, isJSON := strings.CutSuffix(name, ".json")
	switch {
	case m&workspace != 0 && isJSON && (base == "head" || base == "bookmarks" || base == "config"):
		return true
	case m&(conversations|agents|explorations|packed) != 0 && isJSON:
		return true
	case m&conversations != 0 && name == "session_index.journal":
		return true
	case m&packed != 0 && strings.HasSuffix(name, ".zst"):
		return true
	case m&attachments != 0 && len(name) == 64 && consistsOf(name, "0123456789abcdef"):
		return true
	}
	return m&states != 0 && isOfStates(name)
}

// isOfStates reports whether the store of states writes a file.
func isOfStates(name string) bool {
	switch name {
	case "folders.json", "states.jsonl", "links.jsonl", "forgotten.jsonl":
		return true
	}
	number, isPack := strings.CutSuffix(name, ".zst")
	return isPack && consistsOf(number, "0123456789") || strings.HasPrefix(name, "restore-") && strings.HasSuffix(name, ".journal")
}

// consistsOf reports whether a text has only some characters.
func consistsOf(text, set string) bool { return strings.Trim(text, set) == "" }
