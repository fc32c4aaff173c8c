package sessions

import (
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
)

// A ConflictCopy is a file that a program for folder synchronization created beside
// a session because two machines had changed it. It is not a session.
type ConflictCopy struct {
	Path string // relative to the workspace
	ID   string // of the session; "session_index" for a copy of the index
}

// ConflictCopies returns the conflict copies in the folder, sorted by path.
func (f Folder) ConflictCopies() ([]ConflictCopy, error) {
	names, err := f.names()
	if err != nil {
		return nil, err
	}
	var list []ConflictCopy
	for _, name := range names {
		if id := conflictOf(name, names); id != "" {
			list = append(list, ConflictCopy{session.Dir + "/" + name, id})
		}
	}
	slices.SortFunc(list, func(a, b ConflictCopy) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// withoutConflicts returns names without conflict copies.
func withoutConflicts(names []string) []string {
	if !slices.ContainsFunc(names, mayBeConflict) {
		return names
	}
	all := slices.Clone(names)
	return slices.DeleteFunc(names, func(name string) bool { return conflictOf(name, all) != "" })
}

// conflictOf returns the id of the session to which the conflict copy name belongs,
// or "". names are all files of the folder.
func conflictOf(name string, names []string) string {
	stem, ok := strings.CutSuffix(name, ext)
	if !ok || !mayBeConflict(stem) {
		return ""
	}
	id, sure := ConflictOf(stem)
	if id == "" || !sure && !slices.Contains(names, id+ext) {
		return ""
	}
	return id
}

// mayBeConflict is a fast check for a substring that all names of conflict copies
// have. It runs for each file of a folder.
func mayBeConflict(stem string) bool {
	return strings.IndexByte(stem, ' ') >= 0 || strings.Contains(stem, "conflict") || strings.Contains(stem, "TOP-")
}

// ConflictOf returns the id of the session to which a conflict copy with this stem
// belongs, by the naming schemes of Dropbox, Nextcloud, ownCloud, Syncthing,
// OneDrive, Google Drive and iCloud, or "" for any other name. If sure is false,
// the file is a conflict copy only if the folder also has a file for id.
func ConflictOf(stem string) (id string, sure bool) {
	sure = true
	for {
		rest, certain, ok := conflictSuffix(stem)
		if !ok {
			break
		}
		stem, id, sure = rest, rest, sure && certain
	}
	if !sessionid.Valid(id) && id != sessionid.IndexStem {
		return "", false
	}
	return id, sure
}

// conflictSuffix returns stem without the suffix of one conflict.
func conflictSuffix(stem string) (rest string, sure, ok bool) {
	// The name of a computer or a person may contain parentheses.
	if at := strings.Index(stem, " ("); at > 0 && strings.HasSuffix(stem, ")") {
		rest, inside := stem[:at], strings.ToLower(stem[at+2:len(stem)-1])
		switch {
		case strings.Contains(inside, "conflicted copy"), strings.Contains(inside, "case conflict"):
			return rest, true, true
		case strings.Contains(inside, "conflict"):
			return rest, false, true
		case isNumber(inside) && isGenerated(rest):
			return rest, false, true
		}
	}
	for _, marker := range []string{".sync-conflict-", "_conflict-"} {
		if at := strings.LastIndex(stem, marker); at > 0 && isStamp(stem[at+len(marker):]) {
			return stem[:at], true, true
		}
	}
	for _, computer := range []string{"-DESKTOP-", "-LAPTOP-"} {
		if at := strings.LastIndex(stem, computer); at > 0 && isComputer(stem[at+len(computer):]) && isGenerated(stem[:at]) {
			return stem[:at], true, true
		}
	}
	if at := strings.LastIndexByte(stem, ' '); at > 0 && isNumber(stem[at+1:]) && isGenerated(stem[:at]) {
		return stem[:at], false, true
	}
	return "", false, false
}

func isNumber(s string) bool {
	return len(s) > 0 && len(s) <= 4 && strings.Trim(s, "0123456789") == ""
}

// isStamp reports whether s begins with a time such as 20260101-120000.
func isStamp(s string) bool {
	const layout = "20060102-150405"
	if len(s) < len(layout) {
		return false
	}
	_, err := time.Parse(layout, s[:len(layout)])
	return err == nil
}

// isComputer reports whether s is a computer name that Windows generates, without
// its DESKTOP- prefix, optionally followed by a number.
func isComputer(s string) bool {
	name, number, numbered := strings.Cut(s, "-")
	return len(name) >= 6 && len(name) <= 8 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "" &&
		(!numbered || isNumber(number))
}

// isGenerated reports whether a program generated id: in Penguin's shape, or as a
// UUID.
func isGenerated(id string) bool {
	const hex, digits = "0123456789abcdefABCDEF", "0123456789"
	shape := func(sizes []int, of string) bool {
		parts := strings.Split(id, "-")
		return len(parts) == len(sizes) && !slices.ContainsFunc(parts, func(p string) bool { return strings.Trim(p, of) != "" }) &&
			slices.EqualFunc(parts, sizes, func(p string, n int) bool { return len(p) == n })
	}
	if shape([]int{8, 4, 4, 4, 12}, hex) || id == sessionid.IndexStem {
		return true
	}
	parts := strings.Split(id, "_")
	return len(parts) == 4 && parts[0] == "session" && len(parts[1]) == 8 && len(parts[2]) == 6 && len(parts[3]) == 8 &&
		strings.Trim(parts[1]+parts[2], digits) == "" && strings.Trim(parts[3], hex) == ""
}
