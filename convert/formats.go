package convert

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/internal/aider"
	"github.com/bough-dev/bough/convert/internal/aisdk"
	"github.com/bough-dev/bough/convert/internal/amp"
	"github.com/bough-dev/bough/convert/internal/anthropic"
	"github.com/bough-dev/bough/convert/internal/antigravity"
	"github.com/bough-dev/bough/convert/internal/atif"
	"github.com/bough-dev/bough/convert/internal/chatgpt"
	"github.com/bough-dev/bough/convert/internal/claude"
	"github.com/bough-dev/bough/convert/internal/claudeai"
	"github.com/bough-dev/bough/convert/internal/cline"
	"github.com/bough-dev/bough/convert/internal/codex"
	"github.com/bough-dev/bough/convert/internal/copilot"
	"github.com/bough-dev/bough/convert/internal/copilotchat"
	"github.com/bough-dev/bough/convert/internal/cursor"
	"github.com/bough-dev/bough/convert/internal/gemini"
	"github.com/bough-dev/bough/convert/internal/goose"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/librechat"
	"github.com/bough-dev/bough/convert/internal/llm"
	"github.com/bough-dev/bough/convert/internal/markdown"
	"github.com/bough-dev/bough/convert/internal/messages"
	"github.com/bough-dev/bough/convert/internal/oasst"
	"github.com/bough-dev/bough/convert/internal/openai"
	"github.com/bough-dev/bough/convert/internal/opencode"
	"github.com/bough-dev/bough/convert/internal/openwebui"
	"github.com/bough-dev/bough/convert/internal/otel"
	"github.com/bough-dev/bough/convert/internal/penguin"
	"github.com/bough-dev/bough/convert/internal/pi"
	"github.com/bough-dev/bough/convert/internal/qwen"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/sharegpt"
	"github.com/bough-dev/bough/convert/internal/sillytavern"
	"github.com/bough-dev/bough/convert/internal/zed"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/sessionid"
)

// Formats are all formats. [Detect] tries them in this order.
var Formats = []*Format{
	{
		Name:     "penguin",
		Aliases:  []string{"bough", "session"},
		About:    "a session file of bough or of the Penguin assistant",
		Ext:      ".json",
		Branches: true,
		Sessions: true,
		detect:   penguin.Detect,
		read:     penguin.Read,
		write:    penguin.Write,
		newID:    sessionid.New,
	},
	{
		Name:     "pi",
		About:    "the sessions of the coding agent pi",
		Ext:      ".jsonl",
		Branches: true,
		RecordID: "id",
		detect:   pi.Detect,
		read:     pi.Read,
		tail:     pi.NewTail,
		write:    pi.Write,
		home:     &pi.Home,
	},
	{
		Name:     "claude-code",
		Aliases:  []string{"claude", "claudecode", "claude_code"},
		About:    "the sessions of Claude Code",
		Ext:      ".jsonl",
		Branches: true,
		RecordID: "uuid",
		detect:   claude.Detect,
		read:     claude.Read,
		tail:     claude.NewTail,
		write:    claude.Write,
		home:     &claude.Home,
	},
	{
		Name:     "codex",
		Aliases:  []string{"codex-cli"},
		About:    "a session of OpenAI's Codex",
		Ext:      ".jsonl",
		Branches: true,
		detect:   codex.Detect,
		read:     codex.Read,
		tail:     codex.NewTail,
		write:    codex.Write,
		home:     &codex.Home,
	},
	{
		Name:     "gemini",
		Aliases:  []string{"gemini-cli"},
		About:    "a chat of Gemini CLI",
		Ext:      ".jsonl",
		Branches: true,
		detect:   gemini.Detect,
		read:     gemini.Read,
		tail:     gemini.NewTail,
		write:    gemini.Write,
		called:   gemini.SessionID,
		home:     &gemini.Home,
	},
	{
		Name:    "opencode",
		Aliases: []string{"open-code", "kilo", "kilo-code"},
		About:   "the database of opencode or Kilo Code, and a session that it exported",
		Ext:     ".json",
		detect:  opencode.Detect,
		read:    opencode.Read,
		isIn:    opencode.IsDatabase,
		rows:    opencode.ReadDatabase,
		write:   opencode.Write,
		called:  opencode.SessionID,
		home:    &opencode.Home,
	},
	{
		Name:     "chatgpt",
		Aliases:  []string{"chat-gpt"},
		About:    "conversations.json in an export of ChatGPT",
		Ext:      ".json",
		Branches: true,
		detect:   chatgpt.Detect,
		read:     chatgpt.Read,
		write:    chatgpt.Write,
	},
	{
		Name:     "claude-ai",
		Aliases:  []string{"claudeai", "claude.ai"},
		About:    "conversations.json in an export of claude.ai",
		Ext:      ".json",
		Branches: true,
		detect:   claudeai.Detect,
		read:     claudeai.Read,
		write:    claudeai.Write,
	},
	{
		Name:     "oasst",
		Aliases:  []string{"openassistant", "open-assistant"},
		About:    "message trees of Open Assistant",
		Ext:      ".jsonl",
		Branches: true,
		detect:   oasst.Detect,
		read:     oasst.Read,
		write:    oasst.Write,
	},
	{
		Name:   "anthropic",
		About:  "the messages of a request to Anthropic's Messages API",
		Ext:    ".json",
		detect: anthropic.Detect,
		read:   anthropic.Read,
		write:  anthropic.Write,
	},
	{
		Name:   "openai",
		About:  "the messages of a request to OpenAI's Chat Completions API",
		Ext:    ".json",
		detect: openai.Detect,
		read:   openai.Read,
		write:  openai.Write,
	},
	{
		Name:     "markdown",
		Aliases:  []string{"md"},
		About:    "a Markdown document",
		Ext:      ".md",
		Branches: true,
		write:    markdown.Write,
	},
	{
		Name:     "open-webui",
		Aliases:  []string{"openwebui"},
		About:    "chats that Open WebUI exported",
		Ext:      ".json",
		Branches: true,
		detect:   openwebui.Detect,
		read:     openwebui.Read,
		write:    openwebui.Write,
	},
	{
		Name:    "copilot-cli",
		Aliases: []string{"copilot", "github-copilot-cli"},
		About:   "the sessions of GitHub Copilot CLI",
		Ext:     ".jsonl",
		detect:  copilot.Detect,
		read:    copilot.Read,
		tail:    copilot.NewTail,
		write:   copilot.Write,
		home:    &copilot.Home,
	},
	{
		Name:    "cline",
		Aliases: []string{"roo", "roo-code"},
		About:   "the sessions and tasks of Cline, Roo Code and Kilo Code",
		Ext:     ".json",
		detect:  cline.Detect,
		read:    cline.Read,
		write:   cline.Write,
		home:    &cline.Home,
	},
	{
		Name:     "librechat",
		Aliases:  []string{"libre-chat"},
		About:    "a conversation that LibreChat exported as JSON",
		Ext:      ".json",
		Branches: true,
		detect:   librechat.Detect,
		read:     librechat.Read,
		write:    librechat.Write,
	},
	{
		Name:    "messages",
		Aliases: []string{"hugging-face", "fine-tuning"},
		About:   "conversations in the member messages, one per line, as training takes them",
		Ext:     ".jsonl",
		detect:  messages.Detect,
		read:    messages.Read,
		write:   messages.Write,
	},
	{
		Name:    "sharegpt",
		Aliases: []string{"share-gpt"},
		About:   "conversations of human and gpt, as training takes them",
		Ext:     ".jsonl",
		detect:  sharegpt.Detect,
		read:    sharegpt.Read,
		write:   sharegpt.Write,
	},
	{
		Name:    "ai-sdk",
		Aliases: []string{"aisdk", "uimessage", "vercel-ai"},
		About:   "the UI messages of a chat with the AI SDK",
		Ext:     ".json",
		detect:  aisdk.Detect,
		read:    aisdk.Read,
		write:   aisdk.Write,
	},
	{
		Name:     "qwen-code",
		Aliases:  []string{"qwen", "qwencode"},
		About:    "the sessions of Qwen Code",
		Ext:      ".jsonl",
		Branches: true,
		RecordID: "uuid",
		detect:   qwen.Detect,
		read:     qwen.Read,
		tail:     qwen.NewTail,
		home:     &qwen.Home,
	},
	{
		Name:     "sillytavern",
		Aliases:  []string{"silly-tavern"},
		About:    "the chats of SillyTavern",
		Ext:      ".jsonl",
		Branches: true,
		detect:   sillytavern.Detect,
		read:     sillytavern.Read,
	},
	{
		Name:   "aider",
		About:  "the chat history of Aider",
		Ext:    ".md",
		detect: aider.Detect,
		read:   aider.Read,
	},
	{
		Name:    "amp",
		Aliases: []string{"ampcode"},
		About:   "the threads of Amp",
		Ext:     ".json",
		detect:  amp.Detect,
		read:    amp.Read,
		home:    &amp.Home,
	},
	{
		Name:  "atif",
		About: "a trajectory by which agents are measured and trained",
		Ext:   ".json",
		write: atif.Write,
	},
	{
		Name:    "otel",
		Aliases: []string{"opentelemetry", "otlp"},
		About:   "a trace of OpenTelemetry with its conventions for generative AI",
		Ext:     ".json",
		write:   otel.Write,
	},
	{
		Name:     "copilot-chat",
		Aliases:  []string{"vscode", "vs-code", "copilotchat"},
		About:    "the chats of VS Code with GitHub Copilot",
		Ext:      ".json",
		Branches: true,
		detect:   copilotchat.Detect,
		read:     copilotchat.Read,
		write:    copilotchat.Write,
		home:     &copilotchat.Home,
	},
	{
		Name:    "cursor",
		Aliases: []string{"cursor-ide"},
		About:   "the databases and the transcripts of Cursor, the editor and its command line",
		Ext:     ".vscdb",
		detect:  cursor.Detect,
		read:    cursor.Read,
		isIn:    cursor.IsDatabase,
		isEmpty: cursor.IsEmpty,
		rows:    cursor.ReadDatabase,
		home:    &cursor.Home,
	},
	{
		Name:     "llm",
		Aliases:  []string{"simonw-llm"},
		About:    "the database of the command-line program llm",
		Ext:      ".db",
		Branches: true,
		isIn:     llm.IsDatabase,
		rows:     llm.ReadDatabase,
		home:     &llm.Home,
	},
	{
		Name:  "zed",
		About: "the database of the editor Zed with the threads of its agent",
		Ext:   ".db",
		isIn:  zed.IsDatabase,
		rows:  zed.ReadDatabase,
		home:  &zed.Home,
	},
	{
		Name:    "goose",
		Aliases: []string{"block-goose"},
		About:   "the database of goose, its older files, and a session that it exported",
		Ext:     ".json",
		detect:  goose.Detect,
		read:    goose.Read,
		isIn:    goose.IsDatabase,
		rows:    goose.ReadDatabase,
		home:    &goose.Home,
	},
	{
		Name:     "antigravity",
		Aliases:  []string{"agy"},
		About:    "the transcripts of Google's Antigravity",
		Ext:      ".jsonl",
		Branches: true,
		detect:   antigravity.Detect,
		read:     antigravity.Read,
		home:     &antigravity.Home,
	},
}

// Programs returns the programs that have the format of another program: each is that format, with the
// folders and the commands of this program alone. The format itself has these folders too. A program that
// changed from one format to another is in the list with each of them.
func Programs() []*Format {
	return []*Format{
		of("opencode", Format{Program: "kilo", Aliases: []string{"kilo-code"}, write: opencode.WriteKilo, home: &opencode.KiloHome}),
		of("cline", Format{Program: "kilo", Aliases: []string{"kilo-code"}, write: cline.Write, home: &cline.KiloHome}),
		of("cline", Format{Program: "roo", Aliases: []string{"roo-code"}, write: cline.Write, home: &cline.RooHome}),
	}
}

// FormatsOf returns the formats of tools by their names or aliases, ignoring case, each tool once. A name in [Programs] has
// precedence over an alias in [Formats]. A tool that changed from one format to another has several. If a name is
// unknown, FormatsOf returns no formats and its index in names; otherwise unknown is -1.
func FormatsOf(names ...string) (list []*Format, unknown int) {
	all := slices.Concat(Programs(), Formats)
	for n, name := range names {
		i := slices.IndexFunc(all, func(f *Format) bool { return f.IsNamed(name) })
		if i < 0 {
			return nil, n
		}
		isOne := func(f *Format) bool { return f.Tool() == all[i].Tool() }
		if slices.ContainsFunc(list, isOne) {
			continue
		}
		for _, f := range all {
			if isOne(f) {
				list = append(list, f)
			}
		}
	}
	return list, -1
}

// of returns a format with what a program has of its own.
func of(format string, program Format) *Format {
	f := *Formats[slices.IndexFunc(Formats, func(f *Format) bool { return f.Name == format })]
	f.Program, f.Aliases, f.write, f.home = program.Program, program.Aliases, program.write, program.home
	return &f
}

// Named returns the format with a name or an alias, ignoring case. The error
// lists all names.
func Named(name string) (*Format, error) {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		if f.IsNamed(name) {
			return f, nil
		}
		names[i] = f.Name
	}
	return nil, fmt.Errorf("the format %q is none of %s", name, strings.Join(names, ", "))
}

// HeadSize is the number of bytes at the start of a file that [Detect] needs.
const HeadSize = jsonl.HeadSize

// Detect returns the format of a file that begins with head, nil if it is
// unrecognized. The name of the file does not matter. A database is recognized by
// [Database.Format].
func Detect(head []byte) *Format {
	for _, f := range Formats {
		if f.detect != nil && f.detect(jsonl.TrimBOM(head)) {
			return f
		}
	}
	return nil
}

// ErrNothing is the error of [Format.Read] for a file without a conversation.
var ErrNothing = errors.New("there is no conversation in it")

// NewPage returns a format that can only be written, with all branches, by the
// function write.
func NewPage(name, about, ext string, write func(io.Writer, *transcript.Transcript) error) *Format {
	return &Format{
		Name: name, About: about, Ext: ext, Branches: true,
		write: func(w io.Writer, t *transcript.Transcript, _ transcript.Options, _ *report.Report) error {
			return write(w, t)
		},
	}
}
