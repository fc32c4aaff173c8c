// Package block returns the parts of a message as they are printed on a terminal. All text of
// a result is safe to print.
package block

import (
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/printable"
	"github.com/clipperhouse/displaywidth"
	"github.com/tidwall/gjson"
)

// A Block is a part of a message.
type Block struct {
	Kind   Kind
	Tool   string // the name of the tool of a call or result
	Call   string // the id of a call, "" if unknown
	Failed bool   // the result is an error
	Text   string // of a call, its arguments as JSON
}

// A Kind is the kind of a block.
type Kind int

// The kinds.
const (
	Text Kind = iota
	Thinking
	Call
	Result
)

// Of returns a part of a message. ok is false for a part without text.
func Of(part *content.Part) (b Block, ok bool) {
	text := strings.TrimRight(printable.Clean(part.Text), " \t\n")
	switch part.Type {
	case content.TypeToolCall:
		call := part.Call()
		return Block{Kind: Call, Tool: toolName(call.Name), Call: call.ID, Text: call.Arguments}, true
	case content.TypeToolResult:
		call := part.Call()
		return Block{Kind: Result, Tool: toolName(call.Name), Failed: call.Failed, Text: text}, true
	case content.TypeThinking, content.TypeRedacted:
		if text == "" {
			text = "(not recorded)"
		}
		return Block{Kind: Thinking, Text: text}, true
	case content.TypeText:
		return Block{Text: text}, text != ""
	}
	if text == "" {
		one := content.Message{Parts: []content.Part{{Type: part.Type, Meta: part.Meta}}}
		text = strings.TrimRight(printable.Clean(strings.Join(one.Texts(), "\n")), " \t\n")
	}
	label := "[" + strings.TrimSpace(oneLine(typeName(part))+" "+oneLine(part.Filename)) + "]"
	return Block{Text: strings.TrimSpace(label + "\n" + text)}, true
}

// typeName returns the name of a part that is not text: its type or, for data, the type of
// the data.
func typeName(part *content.Part) string {
	if kind := gjson.GetBytes(part.Meta, "data_type"); part.Type == content.TypeData && kind.Type == gjson.String {
		return kind.Str
	}
	return part.Type
}

func toolName(name string) string {
	if name = oneLine(name); name == "" {
		return "tool"
	}
	return name
}

// Fold returns the first lines of a text, each cut to a number of columns, and the number
// of omitted lines.
func Fold(text string, lines, columns int) (first string, more int) {
	var b strings.Builder
	n := 0
	for l := range strings.Lines(text) {
		if n++; n <= lines {
			l = strings.ReplaceAll(strings.TrimSuffix(l, "\n"), "\t", "    ") // a tab has no width of its own
			b.WriteString(Cut(l, columns) + "\n")
		}
	}
	return b.String(), max(0, n-lines)
}

// Cut cuts a line to a number of columns, at least 8.
func Cut(s string, columns int) string {
	return displaywidth.TruncateString(s, max(columns, 8), "…")
}

// ArgumentLine formats the arguments of a call on one line: the value of an only member,
// else each member with its name.
func ArgumentLine(arguments string) string {
	object := gjson.Parse(arguments)
	if !object.IsObject() {
		return oneLine(arguments)
	}
	var list []string
	var only string
	object.ForEach(func(name, value gjson.Result) bool {
		only = Cut(oneLine(argument(value)), 100)
		list = append(list, oneLine(name.String())+": "+only)
		return true
	})
	if len(list) == 1 {
		return only
	}
	return strings.Join(list, ", ")
}

// ArgumentLines formats all arguments of a call; values of several lines begin below their
// names.
func ArgumentLines(arguments string) (list []string) {
	object := gjson.Parse(arguments)
	if !object.IsObject() {
		return strings.Split(printable.Clean(arguments), "\n")
	}
	object.ForEach(func(name, value gjson.Result) bool {
		text := strings.TrimRight(printable.Clean(argument(value)), "\n")
		if !strings.Contains(text, "\n") {
			list = append(list, oneLine(name.String())+": "+text)
			return true
		}
		list = append(list, oneLine(name.String())+":")
		for l := range strings.Lines(text) {
			list = append(list, "  "+strings.TrimSuffix(l, "\n"))
		}
		return true
	})
	return list
}

// argument formats an argument of a call: a string unquoted, else its JSON.
func argument(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.String()
	}
	return v.Raw
}

// oneLine returns clean text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(printable.Clean(s)), " ") }
