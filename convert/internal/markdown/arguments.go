package markdown

import (
	"bytes"
	"encoding/json"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// writeArguments writes the arguments of a call as Markdown: small ones as a list, each
// longer one in a fence.
func writeArguments(b *bytes.Buffer, arguments string) {
	if arguments == "" {
		return
	}
	v := gjson.Parse(arguments)
	if rawjson.Check([]byte(arguments)) != nil || !v.IsObject() {
		b.WriteString("\n" + parts.Fence("", arguments) + "\n")
		return
	}
	w := argumentWriter{b: b}
	w.object("", v, 0)
}

type argumentWriter struct {
	b      *bytes.Buffer
	inList bool
}

const (
	smallArgument = 100 // limit for an inline value, in bytes
	deepArgument  = 4   // nesting of objects and arrays; deeper values are written as JSON
)

func (w *argumentWriter) object(prefix string, v gjson.Result, depth int) {
	language := languageOf(v)
	old, replaced := v.Get("old_string"), v.Get("new_string")
	isEdit := old.Type == gjson.String && replaced.Type == gjson.String
	v.ForEach(func(key, value gjson.Result) bool {
		switch name := member.String(key); {
		case isEdit && name == "old_string":
			w.fence(prefix+"old_string, new_string", "diff", signed("-", member.String(old))+signed("+", member.String(replaced)))
		case isEdit && name == "new_string":
		default:
			w.value(prefix+name, name, language, value, depth)
		}
		return true
	})
}

// value writes the value of an argument. name is that of the innermost member.
func (w *argumentWriter) value(full, name, language string, v gjson.Result, depth int) {
	if script, ok := scriptOf(name, v); ok {
		w.text(full, "sh", script)
		return
	}
	if v.Type == gjson.String {
		switch s := member.String(v); {
		case strings.HasPrefix(s, "*** Begin Patch") || strings.HasPrefix(s, "diff --git ") || strings.HasPrefix(s, "--- "):
			w.text(full, "diff", s)
		case isSource(name):
			w.text(full, language, s)
		default:
			w.text(full, "", s)
		}
		return
	}
	short := member.Compact(v.Raw)
	switch {
	case len(short) <= smallArgument && !strings.Contains(short, `\n`):
		w.small(full, short)
	case depth >= deepArgument:
		var pretty bytes.Buffer
		if json.Indent(&pretty, []byte(short), "", "  ") == nil {
			short = pretty.String()
		}
		w.fence(full, "json", short)
	case v.IsObject():
		w.object(full+".", v, depth+1)
	default:
		for i, item := range v.Array() {
			w.value(full+"."+strconv.Itoa(i), name, language, item, depth+1)
		}
	}
}

func (w *argumentWriter) text(name, language, s string) {
	if len(s) <= smallArgument && !strings.ContainsAny(s, "\n\r") {
		w.small(name, s)
		return
	}
	w.fence(name, language, s)
}

func (w *argumentWriter) small(name, value string) {
	if !w.inList {
		w.b.WriteByte('\n')
		w.inList = true
	}
	w.b.WriteString("- " + code(name) + ": " + span(value) + "\n")
}

func (w *argumentWriter) fence(name, language, s string) {
	w.b.WriteString("\n" + code(name) + ":\n\n" + parts.Fence(language, s) + "\n")
	w.inList = false
}

// span returns a text as code in a line, with a delimiter that it does not hold.
func span(s string) string {
	if strings.TrimSpace(s) == "" {
		s = strconv.Quote(s)
	}
	mark := "`"
	for strings.Contains(s, mark) {
		mark += "`"
	}
	if len(mark) > 1 {
		s = " " + s + " "
	}
	return mark + s + mark
}

// signed returns a text with a sign before each line.
func signed(sign, s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// scriptOf returns the command in an argument: a text, or the words of a command line, or
// only the script of a shell.
func scriptOf(name string, v gjson.Result) (script string, ok bool) {
	if name != "command" && name != "cmd" {
		return "", false
	}
	if v.Type == gjson.String {
		return member.String(v), true
	}
	if !v.IsArray() {
		return "", false
	}
	var words []string
	for _, word := range v.Array() {
		if word.Type != gjson.String {
			return "", false
		}
		words = append(words, member.String(word))
	}
	if len(words) == 3 && strings.HasSuffix(words[0], "sh") && (words[1] == "-c" || words[1] == "-lc") {
		return words[2], true
	}
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n'\"\\$&|;<>()*?#~`") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " "), true
}

// isSource reports whether an argument of a name is the text of the file that another
// argument names.
func isSource(name string) bool {
	switch name {
	case "content", "contents", "file_text", "text", "code", "source", "new_source", "old_string", "new_string", "old_str", "new_str", "oldText", "newText", "oldString", "newString":
		return true
	}
	return false
}

// languageOf returns the language of the file that arguments name, "" if unknown.
func languageOf(arguments gjson.Result) string {
	for _, name := range []string{"file_path", "filePath", "path", "filename", "notebook_path"} {
		if s := arguments.Get(name); s.Type == gjson.String {
			return languageOfFile(s.Str)
		}
	}
	return ""
}

func languageOfFile(name string) string {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	switch ext {
	case "txt", "log":
		return ""
	case "py":
		return "python"
	case "js", "mjs", "cjs":
		return "javascript"
	case "ts", "mts":
		return "typescript"
	case "rs":
		return "rust"
	case "rb":
		return "ruby"
	case "bash", "zsh":
		return "sh"
	case "md":
		return "markdown"
	case "yml":
		return "yaml"
	case "h":
		return "c"
	case "cc", "hpp":
		return "cpp"
	case "cs":
		return "csharp"
	case "kt":
		return "kotlin"
	}
	if len(ext) > 6 || utf8.RuneCountInString(ext) != len(ext) || strings.ContainsAny(ext, "`~ \t") {
		return ""
	}
	return ext
}
