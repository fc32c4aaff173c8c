// Package fileedit reads from the calls of tools which files they change, and how. It knows the
// editing tools of Claude Code, Codex, Gemini CLI, opencode and pi, the text editor of
// Anthropic's API, the file server of MCP, and tools whose arguments have the same names. It
// reads arguments and runs nothing.
package fileedit

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/tidwall/gjson"
)

// A Kind is what an edit does.
type Kind int

const (
	Replace Kind = iota // Old with New
	Write               // the file has the content New
	Delete              // the file is removed
	Move                // the file is renamed to the path New
)

// An Edit is what a call changes in a file.
type Edit struct {
	Kind Kind
	Path string // as the call has it: absolute, or relative to a folder that the call does not name
	Old  string // of Replace, "" if New was inserted
	New  string
	All  bool // Replace: everywhere
}

var (
	pathNames  = []string{"file_path", "filePath", "path", "absolute_path", "filename", "target_file"}
	oldNames   = []string{"old_string", "oldString", "old_str", "oldText", "old_text"}
	newNames   = []string{"new_string", "newString", "new_str", "newText", "new_text", "insert_text"}
	wholeNames = []string{"content", "file_text", "contents", "text"}
	allNames   = []string{"replace_all", "replaceAll", "allow_multiple"}
)

// Of returns the edits that a call makes if it succeeds, in their order.
func Of(c content.Call) (list []Edit) {
	if strings.Contains(c.Arguments, patchBegin) {
		return patches(c.Arguments)
	}
	args := gjson.Parse(c.Arguments)
	if !args.IsObject() {
		return nil
	}
	name, ok := member(args, pathNames)
	if !ok || name == "" {
		return nil
	}
	if edits := args.Get("edits"); edits.IsArray() {
		for _, e := range edits.Array() {
			list = append(list, replacement(name, e)...)
		}
		return list
	}
	if list = replacement(name, args); list != nil {
		return list
	}
	if text, ok := member(args, wholeNames); ok && writes(c.Name) {
		return []Edit{{Kind: Write, Path: name, New: text}}
	}
	return nil
}

// replacement returns the edit of an object with an old and a new text.
func replacement(name string, args gjson.Result) []Edit {
	text, ok := member(args, newNames)
	if !ok {
		return nil
	}
	old, _ := member(args, oldNames)
	e := Edit{Kind: Replace, Path: name, Old: old, New: text}
	e.All = slices.ContainsFunc(allNames, func(n string) bool { return args.Get(n).Bool() }) || args.Get("expected_replacements").Int() > 1
	return []Edit{e}
}

// writes reports whether a tool with a name writes files. Tools that search have a path and a
// text too.
func writes(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"write", "create", "save", "edit", "replace"}, func(part string) bool { return strings.Contains(name, part) })
}

func member(object gjson.Result, names []string) (value string, ok bool) {
	for _, name := range names {
		if v := object.Get(name); v.Type == gjson.String {
			return v.Str, true
		}
	}
	return "", false
}

// patchBegin is the first line of a patch of Codex, which opencode has too.
const patchBegin = "*** Begin Patch"

// patches returns the edits of all patches in the arguments of a call: a text, or JSON with texts
// in it, such as a command for a shell.
func patches(arguments string) (list []Edit) {
	var walk func(v gjson.Result)
	walk = func(v gjson.Result) {
		if v.Type == gjson.String && strings.Contains(v.Str, patchBegin) {
			list = append(list, patch(v.Str)...)
		}
		if v.IsObject() || v.IsArray() {
			v.ForEach(func(_, value gjson.Result) bool { walk(value); return true })
		}
	}
	if json.Valid([]byte(arguments)) {
		walk(gjson.Parse(arguments))
		return list
	}
	return patch(arguments)
}

// patch returns the edits of the patches in a text.
func patch(text string) (list []Edit) {
	_, text, _ = strings.Cut(text, patchBegin)
	name, hunk := "", (*hunk)(nil)
	flush := func() {
		if hunk != nil && hunk.changes {
			list = append(list, Edit{Kind: hunk.kind, Path: name, Old: hunk.old.String(), New: hunk.new.String()})
		}
		hunk = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		word, arg, marked := cutMark(line)
		switch {
		case marked:
			flush()
			switch word {
			case "Add File":
				name, hunk = arg, newHunk(Write)
				hunk.changes = true
			case "Update File":
				name, hunk = arg, newHunk(Replace)
			case "Delete File":
				list = append(list, Edit{Kind: Delete, Path: arg})
			case "Move to":
				list = append(list, Edit{Kind: Move, Path: name, New: arg})
				name, hunk = arg, newHunk(Replace)
			case "End of File":
				hunk = newHunk(Replace)
			}
		case hunk == nil:
		case strings.HasPrefix(line, "@@"):
			flush()
			hunk = newHunk(Replace)
		default:
			hunk.add(line)
		}
	}
	flush()
	return list
}

// cutMark returns the word and the argument of a line such as "*** Add File: NAME".
func cutMark(line string) (word, arg string, ok bool) {
	rest, ok := strings.CutPrefix(line, "*** ")
	if !ok {
		return "", "", false
	}
	word, arg, _ = strings.Cut(rest, ": ")
	return word, strings.TrimSpace(arg), true
}

// A hunk is a part of a patch.
type hunk struct {
	kind     Kind
	old, new strings.Builder
	changes  bool
}

func newHunk(k Kind) *hunk { return &hunk{kind: k} }

// add adds a line of the patch.
func (h *hunk) add(line string) {
	mark, text := byte(' '), ""
	if line != "" {
		mark, text = line[0], line[1:]
	}
	switch mark {
	case '+':
		h.new.WriteString(text + "\n")
		h.changes = true
	case '-':
		h.old.WriteString(text + "\n")
		h.changes = true
	case ' ':
		h.old.WriteString(text + "\n")
		h.new.WriteString(text + "\n")
	}
}

// In returns the path of a file below a folder as states have it: relative to the folder, with
// slashes. name is as a call has it; a relative one is relative to from. All three may have the
// separators of another system. ok is false if the file is not in the folder.
func In(dir, from, name string) (rel string, ok bool) {
	dir, name = slashed(dir), slashed(name)
	if !isAbs(name) {
		if from == "" {
			return "", false
		}
		name = slashed(from) + "/" + name
	}
	rel, ok = strings.CutPrefix(path.Clean(name), strings.TrimSuffix(path.Clean(dir), "/")+"/")
	return rel, ok
}

func slashed(name string) string {
	if len(name) > 1 && name[1] == ':' || strings.HasPrefix(name, `\\`) {
		return strings.ReplaceAll(name, `\`, "/")
	}
	return name
}

func isAbs(name string) bool {
	return strings.HasPrefix(name, "/") || len(name) > 2 && name[1] == ':' && name[2] == '/'
}
