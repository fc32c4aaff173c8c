package page

import (
	"bytes"
	"cmp"
	"fmt"
	"mime"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
)

const (
	// maxEntries is how many entries of a folder, and how many paths that are omitted, a page lists.
	maxEntries = 1000

	// maxText is how many bytes of a file a page shows at first, and maxAllText how many in all.
	maxText    = 200 << 10
	maxAllText = 4 << 20
)

// A statePage is what a state has at a path.
type statePage struct {
	folderState
	Git     string
	Late    bool
	Earlier bool // it is of an earlier message than the address names
	Crumbs  []crumb
	Left    []leftOut // of the state, at its top
	MoreOut string

	Blame   string // the address of who wrote the lines, "" of a folder and of what has no lines
	History string // the address of what changed the path
	Entries []folderEntry
	Next    string // the address of more entries
	File    *shownFile
}

// A folderEntry is a name in a folder.
type folderEntry struct {
	Name  string
	Href  string
	Kind  string // file, link or folder
	Size  string
	Marks []string
}

// A leftOut is a path that a state does not have.
type leftOut struct{ Path, Why, About string }

// A shownFile is a file as the page shows it.
type shownFile struct {
	About    []string
	Target   string // of a link
	Text     string
	Language string // for the colors, "" if it is unknown
	Raw      string // the address of its bytes
	Image    bool
	Binary   bool
	More     string // the address of more text
	Cut      string // how much is not shown
}

// showState shows what a state has at a path.
func showState(c *request) (view, error) {
	ctx := c.r.Context()
	at := cmp.Or(strings.TrimSuffix(c.r.PathValue("path"), "/"), ".")
	e, err := c.workspace.Confined().Folder("").Show(ctx, c.r.PathValue("state"), at)
	if err != nil {
		return view{}, err
	}
	p := &statePage{folderState: c.folderState(&e.State), Late: e.State.Late, Earlier: !e.State.Exact, Crumbs: stateCrumbs(&e.State, at)}
	if g := e.State.Git; g != nil {
		p.Git = strings.TrimSpace(g.Branch + " " + lookup.Short(g.Head))
	}
	p.Words = c.wordsAt(&e.State)
	if at == "." {
		p.leave(e.State.Left)
	}
	p.History = historyAddress(e.State.Dir, at)
	title := path.Base(at) + " in " + p.Folder
	switch e.Type {
	case "folder":
		if at == "." {
			title = p.Folder
		}
		from, err := c.number("from", 0)
		if err != nil {
			return view{}, err
		}
		p.list(e, min(from, len(e.Entries)))
	default:
		p.File = c.shownFile(e)
		of := "&" + url.Values{"path": {at}}.Encode()
		if p.File.Text != "" {
			p.Blame = blameAddress(e.State.Dir, at, e.State.ID)
		}
		p.Changes += of
		p.Since += of
	}
	return view{Template: "state", Title: title, Data: p}, nil
}

// wordsAt returns the first words of the message of a state, "" if they are unknown.
func (c *request) wordsAt(st *files.State) string {
	if st.Message == "" {
		return ""
	}
	shown, err := c.workspace.Show(c.r.Context(), refOf(string(st.Session), string(st.Message)), partial())
	if err != nil || len(shown.Messages) == 0 {
		return ""
	}
	return clip(spoken.Words(shown.Messages[len(shown.Messages)-1]))
}

// stateCrumbs returns the way from a folder to a path in a state of it.
func stateCrumbs(st *files.State, at string) []crumb {
	list := []crumb{{Title: path.Base(strings.ReplaceAll(st.Dir, `\`, "/")), Href: stateAddress(st.ID, "")}}
	if at != "." {
		names := strings.Split(at, "/")
		for i, name := range names {
			list = append(list, crumb{Title: name, Href: stateAddress(st.ID, strings.Join(names[:i+1], "/"))})
		}
	}
	list[len(list)-1].Current = true
	return list
}

// leave adds what a state does not have.
func (p *statePage) leave(list []files.Left) {
	for _, l := range list[:min(len(list), maxEntries)] {
		about := ""
		if l.Files > 1 {
			about = count(l.Files, "file")
		}
		if l.Bytes > 0 {
			about = strings.TrimPrefix(about+", "+bytesText(l.Bytes), ", ")
		}
		p.Left = append(p.Left, leftOut{l.Path, sentence.Left(l.Why), about})
	}
	if n := len(list) - len(p.Left); n > 0 {
		p.MoreOut = count(n, "more path")
	}
}

// list adds the entries of a folder from an index on, folders first.
func (p *statePage) list(e *files.Entry, from int) {
	var folders, others []files.Name
	for _, name := range e.Entries {
		if name.Type == "folder" {
			folders = append(folders, name)
		} else {
			others = append(others, name)
		}
	}
	all := append(folders, others...)
	for _, name := range all[from:min(len(all), from+maxEntries)] {
		entry := folderEntry{Name: name.Name, Kind: name.Type, Href: stateAddress(e.State.ID, path.Join(e.Path, name.Name))}
		switch {
		case name.Type == "file":
			entry.Size = bytesText(name.Size)
			if isExecutable(name.Mode) {
				entry.Marks = append(entry.Marks, "executable")
			}
		case name.Type == "link":
			entry.Marks = append(entry.Marks, "link")
		}
		p.Entries = append(p.Entries, entry)
	}
	if next := from + maxEntries; next < len(all) {
		p.Next = stateAddress(e.State.ID, e.Path) + fmt.Sprintf("?from=%d", next)
	}
}

// isExecutable reports whether permission bits, in octal, let any user execute a file.
func isExecutable(mode string) bool { return strings.ContainsAny(mode, "1357") }

// shownFile returns a file or a link as the page shows it.
func (c *request) shownFile(e *files.Entry) *shownFile {
	f := &shownFile{Target: e.Target, Raw: rawAddress(e.State.ID, e.Path)}
	if e.Type == "link" {
		f.Raw = ""
		return f
	}
	f.About = append(f.About, bytesText(e.Size))
	if isExecutable(e.Mode) {
		f.About = append(f.About, "executable")
	}
	if f.Image = strings.HasPrefix(attachmentType(e.Content), "image/"); f.Image {
		return f
	}
	if f.Binary = !isPlain(e.Content); f.Binary {
		return f
	}
	f.About = append(f.About, plural.Of(lineCount(e.Content), "line"))
	limit := maxText
	if c.r.FormValue("all") != "" {
		limit = maxAllText
	}
	shown := wholeLines(e.Content, limit)
	f.Text, f.Language = string(shown), languageOf(e.Path)
	if len(shown) < len(e.Content) {
		f.Cut = bytesText(int64(len(e.Content)-len(shown))) + " more"
		if limit < maxAllText {
			f.More = stateAddress(e.State.ID, e.Path) + "?all=1"
		}
	}
	return f
}

// isPlain reports whether the content of a file can be shown as text.
func isPlain(data []byte) bool { return bytes.IndexByte(data, 0) < 0 && utf8.Valid(data) }

func lineCount(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// wholeLines returns at most limit bytes of a text, which end with a line if one ends there.
func wholeLines(data []byte, limit int) []byte {
	if len(data) <= limit {
		return data
	}
	if end := bytes.LastIndexByte(data[:limit], '\n'); end > 0 {
		return data[:end+1]
	}
	for limit > 0 && !utf8.RuneStart(data[limit]) {
		limit--
	}
	return data[:limit]
}

// languageOf returns the language of a file by its name, as the class of its code has it.
func languageOf(name string) string {
	const longest = 10
	base := strings.ToLower(path.Base(name))
	ext := strings.TrimPrefix(path.Ext(base), ".")
	if ext == "" {
		ext = base // such as makefile
	}
	if len(ext) > longest || strings.Trim(ext, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return ""
	}
	return ext
}

// showRaw sends the bytes of a file of a state: an image as an image, everything else as a
// file to save.
func showRaw(c *request) (view, error) {
	e, err := c.workspace.Confined().Folder("").Show(c.r.Context(), c.r.PathValue("state"), c.r.PathValue("path"))
	if err != nil {
		return view{}, err
	}
	if e.Type != "file" {
		return view{}, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%s is a %s, not a file", e.Path, e.Type)}
	}
	kind := attachmentType(e.Content)
	h := c.w.Header()
	h.Set("Content-Security-Policy", attachmentPolicy)
	if !strings.HasPrefix(kind, "image/") {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(e.Path)}))
	}
	data := e.Content
	if data == nil {
		data = []byte{} // an empty file
	}
	return view{Body: data, Type: kind}, nil
}
