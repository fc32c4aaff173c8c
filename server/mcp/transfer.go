package mcp

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/redact"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/imports"
)

type importInput struct {
	Content string `json:"content,omitempty" jsonschema:"the text of a transcript"`
	Format  string `json:"format,omitempty" jsonschema:"the format of the content; detected if it is absent"`
	Tool    string `json:"tool,omitempty" jsonschema:"import the conversations that this program keeps on this machine, instead of content"`
	Again   bool   `json:"again,omitempty" jsonschema:"also import conversations that were removed or whose import was undone"`
	DryRun  bool   `json:"dry_run,omitempty" jsonschema:"only report what would be imported"`
}

// importConversations imports content, or the conversations of a program, after
// the user confirmed it. It takes no path. A dry run of content needs no consent;
// that of a program shows titles that are not in the workspace.
func importConversations(ctx context.Context, c *call, in importInput) (*imports.Report, error) {
	source := imports.Source{Name: func(string) string { return "MCP" }}
	question, command := "", []string{"import"}
	switch {
	case (in.Content == "") == (in.Tool == ""):
		return nil, &fault.Error{Code: fault.Usage, Message: "give either content or tool"}
	case in.Tool != "" && in.Format != "":
		return nil, &fault.Error{Code: fault.Usage, Message: "format is for content; a tool has its own"}
	case in.Tool != "":
		kept, err := api.Kept(c.opts.Machine, formatOf(in.Tool))
		if err != nil {
			return nil, err
		}
		source = kept
		question = "Import the conversations of " + source.Format.Name + " on this machine"
		command = append(command, "--from", source.Format.Name)
	default:
		source.Paths = []string{"-"}
		question = fmt.Sprintf("Import a transcript of %d bytes", len(in.Content))
		if in.Format != "" {
			source.Format = formatOf(in.Format)
			command = append(command, "--format", in.Format)
		}
		command = append(command, "FILE")
	}
	if in.Again {
		question += ", with those that were removed"
		command = append(command, "--again")
	}
	question += " into " + oneLine(c.w.Dir(), 300) + "?"
	if in.DryRun {
		question = "Show the assistant the titles of the conversations of " + in.Tool + " on this machine? Nothing is imported."
		command = append(command, "--dry-run")
	}
	if !in.DryRun || in.Tool != "" {
		if err := c.confirm(question, c.at.Args, command...); err != nil {
			return nil, err
		}
	}
	return c.w.ImportAll(ctx, []imports.Source{source}, imports.Options{Stdin: strings.NewReader(in.Content), Again: in.Again, DryRun: in.DryRun})
}

// formatOf returns the format with a name that the schema of a tool allows.
func formatOf(name string) *convert.Format {
	return convert.Formats[slices.IndexFunc(convert.Formats, func(f *convert.Format) bool { return f.Name == name })]
}

func noFile(string) ([]byte, error) { return nil, os.ErrNotExist }

type exportInput struct {
	Ref    string `json:"ref,omitempty" jsonschema:"the last message; HEAD if it is absent"`
	To     string `json:"to,omitempty" jsonschema:"the format; markdown if it is absent"`
	Tree   bool   `json:"tree,omitempty" jsonschema:"all branches of the conversation, in a format that has branches"`
	Redact bool   `json:"redact,omitempty" jsonschema:"remove secrets, such as keys and tokens"`
	Strict bool   `json:"strict,omitempty" jsonschema:"refuse a path that ends between a tool call and its result, instead of ending before the call"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the previous answer, to read on"`
}

// An exportPage is a part of an export.
type exportPage struct {
	Format   string            `json:"format"`
	ID       string            `json:"id" jsonschema:"of the conversation in the other program"`
	Session  string            `json:"session_id"`
	Message  session.ID        `json:"message_id"`
	Messages int               `json:"messages"`
	Branches int               `json:"branches"`
	Lost     []transcript.Loss `json:"lost" jsonschema:"what the format cannot represent"`
	Redacted []transcript.Loss `json:"redacted"`
	Bytes    int               `json:"bytes" jsonschema:"of the whole transcript"`
	Offset   int               `json:"offset" jsonschema:"of this part in it"`
	Content  string            `json:"content"`
	Next     string            `json:"next_cursor,omitempty" jsonschema:"absent at the end"`
	checkpoint.Adjustment
}

func (v *exportPage) text() string {
	text := v.Content
	if v.Next != "" {
		text += fmt.Sprintf("\n(bytes %d to %d of %d; cursor %s)\n", v.Offset, v.Offset+len(v.Content), v.Bytes, v.Next)
	}
	return text
}

// export returns a page of an export. Each export has a new id, so the pages
// after the first one are of an export that the server keeps.
func export(ctx context.Context, c *call, in exportInput) (*exportPage, error) {
	at := c.at
	e := c.exports.find(at.Ref)
	if at.Ref != "" && e == nil {
		return nil, &fault.Error{Code: fault.Usage, Message: "the server does not have this export any more", Hint: "export again, without a cursor"}
	}
	if e == nil {
		o := workspace.ExportOptions{Format: formatOf(cmp.Or(in.To, "markdown")), Tree: in.Tree, CutOptions: checkpoint.CutOptions{Strict: in.Strict}}
		if in.Redact {
			o.Redact = redact.New().Bytes
		}
		var err error
		if e, err = c.w.Export(ctx, cmp.Or(in.Ref, head), o); err != nil {
			return nil, err
		}
	}
	v := &exportPage{
		Format: e.Format, ID: e.ID, Session: e.Session, Message: e.Message, Messages: e.Messages, Branches: e.Branches,
		Lost: e.Lost, Redacted: e.Redacted, Bytes: e.Bytes, Adjustment: e.Adjustment,
	}
	v.Offset = min(at.Byte, len(e.Data))
	v.Content, _ = cutText(string(e.Data[v.Offset:min(len(e.Data), v.Offset+maxAnswer+utf8.UTFMax)]), maxAnswer)
	if end := v.Offset + len(v.Content); end < len(e.Data) {
		c.exports.keep(e)
		at.Ref, at.Byte = e.ID, end
		v.Next = at.String()
	}
	return v, nil
}

// exports are the newest exports that clients have not read to the end.
type exports struct {
	mu   sync.Mutex
	list []*workspace.Export // oldest first
}

const (
	maxExports     = 16
	maxExportBytes = 128 << 20
)

// find returns the export with an id, nil if there is none.
func (x *exports) find(id string) *workspace.Export {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.list {
		if e.ID == id {
			return e
		}
	}
	return nil
}

// keep adds an export, and removes the oldest ones if there are too many.
func (x *exports) keep(e *workspace.Export) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if slices.Contains(x.list, e) {
		return
	}
	x.list = append(x.list, e)
	size := 0
	for i := len(x.list) - 1; i >= 0; i-- {
		size += x.list[i].Bytes
		if i < len(x.list)-1 && (len(x.list)-i > maxExports || size > maxExportBytes) {
			x.list = slices.Clone(x.list[i+1:])
			return
		}
	}
}
