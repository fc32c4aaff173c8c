package mcp

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/workspace/files"
)

type fileInput struct {
	State  string `json:"state" jsonschema:"a ref, or the id of a state; a ref is the state of its message, or else of the nearest message before it"`
	Path   string `json:"path,omitempty" jsonschema:"a path in the folder, with slashes; the folder itself if it is absent"`
	Dir    string `json:"dir,omitempty" jsonschema:"only states of this folder, the dir of a state"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the previous answer, to read on"`
}

// A shownFile is a part of what a state has at a path.
type shownFile struct {
	State   string       `json:"state" jsonschema:"the id of the state"`
	Dir     string       `json:"dir" jsonschema:"the folder"`
	Earlier bool         `json:"earlier,omitempty" jsonschema:"the state is of an earlier message than the ref; only in the first page"`
	Path    string       `json:"path"`
	Type    string       `json:"type" jsonschema:"file, link or folder"`
	Size    int64        `json:"size" jsonschema:"of a file, in bytes"`
	Target  string       `json:"target,omitempty" jsonschema:"of a link"`
	Binary  bool         `json:"binary,omitempty" jsonschema:"the file is not UTF-8 text, so its content is not returned"`
	Offset  int          `json:"offset" jsonschema:"in the file, of this part of its text, in bytes; in a folder, the index of the first of these entries"`
	Text    string       `json:"text,omitempty" jsonschema:"of a file"`
	Total   int          `json:"total,omitempty" jsonschema:"of a folder, how many entries it has"`
	Entries []files.Name `json:"entries,omitempty"`
	Next    string       `json:"next_cursor,omitempty" jsonschema:"absent at the end"`
}

// showFile returns a page of a file or of a folder. The cursor names the state, so that
// the next page is of the same one.
func showFile(ctx context.Context, c *call, in fileInput) (*shownFile, error) {
	at := c.at
	e, err := c.w.Confined().Folder(in.Dir).Show(ctx, cmp.Or(at.Ref, in.State), cmp.Or(in.Path, "."))
	if err != nil {
		return nil, err
	}
	v := &shownFile{
		State: e.State.ID, Dir: e.State.Dir, Earlier: !e.State.Exact, Path: e.Path, Type: e.Type, Size: e.Size,
		Target: shortText(e.Target, maxMessage),
	}
	at.Ref = v.State
	switch {
	case e.Type == "folder":
		v.list(e.Entries, at)
	case e.Type == "file":
		v.read(e.Content, at)
	}
	return v, nil
}

// list adds a page of the entries of a folder.
func (v *shownFile) list(entries []files.Name, at cursor) {
	v.Total, v.Offset = len(entries), min(at.At, len(entries))
	size := 0
	for i, e := range entries[v.Offset:] {
		const members = 200 // bytes of JSON beside the name
		if size += members + len(e.Name); i > 0 && size > maxAnswer {
			at.At = v.Offset + i
			v.Next = at.String()
			return
		}
		v.Entries = append(v.Entries, e)
	}
}

// read adds a page of the text of a file.
func (v *shownFile) read(content []byte, at cursor) {
	if bytes.IndexByte(content, 0) >= 0 || !utf8.Valid(content) {
		v.Binary = true
		return
	}
	v.Offset = min(at.Byte, len(content))
	v.Text, _ = cutText(string(content[v.Offset:min(len(content), v.Offset+maxAnswer+utf8.UTFMax)]), maxAnswer)
	if end := v.Offset + len(v.Text); end < len(content) {
		at.Byte = end
		v.Next = at.String()
	}
}

func (v *shownFile) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of the state %s of %s", oneLine(v.Path, maxName), v.State, oneLine(v.Dir, maxName))
	if v.Earlier {
		b.WriteString(", which is of an earlier message")
	}
	b.WriteString("\n\n")
	switch {
	case v.Type == "link":
		fmt.Fprintf(&b, "a link to %s\n", oneLine(v.Target, maxName))
	case v.Binary:
		fmt.Fprintf(&b, "a binary file of %d bytes\n", v.Size)
	case v.Type == "file":
		b.WriteString(v.Text)
	}
	for _, e := range v.Entries {
		switch name := oneLine(e.Name, maxName); e.Type {
		case "folder":
			fmt.Fprintf(&b, "%s/\n", name)
		case "link":
			fmt.Fprintf(&b, "%s (link)\n", name)
		default:
			fmt.Fprintf(&b, "%s (%d bytes)\n", name, e.Size)
		}
	}
	if v.Next != "" {
		fmt.Fprintf(&b, "\n(more follows; cursor %s)\n", v.Next)
	}
	return b.String()
}
