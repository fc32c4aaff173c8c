package convert

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bough-dev/bough/session"
)

// Formats are all formats, in the order in which a file is held against them.
var Formats = []*Format{
	{
		Name:     "penguin",
		Aliases:  []string{"bough", "session"},
		About:    "a session file, as bough and the Penguin assistant write it",
		Ext:      ".json",
		Branches: true,
		Sessions: true,
		detect:   detectPenguin,
		read:     readPenguin,
		write:    writePenguin,
		newID:    session.NewID,
	},
	{
		Name:     "pi",
		About:    "the sessions of the coding agent pi",
		Ext:      ".jsonl",
		Branches: true,
		RecordID: "id",
		detect:   detectPi,
		read:     readPi,
		write:    writePi,
		home:     &piPlace,
	},
	{
		Name:     "claude-code",
		Aliases:  []string{"claude", "claudecode", "claude_code"},
		About:    "the sessions of Claude Code",
		Ext:      ".jsonl",
		Branches: true,
		RecordID: "uuid",
		detect:   detectClaude,
		read:     readClaude,
		write:    writeClaude,
		home:     &claudeCodePlace,
	},
	{
		Name:     "codex",
		Aliases:  []string{"codex-cli"},
		About:    "a session of OpenAI's Codex",
		Ext:      ".jsonl",
		Branches: true,
		detect:   detectCodex,
		read:     readCodex,
		write:    writeCodex,
		home:     &codexPlace,
	},
	{
		Name:     "gemini",
		Aliases:  []string{"gemini-cli"},
		About:    "a chat of the Gemini command",
		Ext:      ".jsonl",
		Branches: true,
		detect:   detectGemini,
		read:     readGemini,
		write:    writeGemini,
		called:   geminiSession,
		home:     &geminiPlace,
	},
	{
		Name:    "opencode",
		Aliases: []string{"open-code"},
		About:   "a session that opencode exported",
		Ext:     ".json",
		detect:  detectOpenCode,
		read:    readOpenCode,
		write:   writeOpenCode,
		called:  openCodeSession,
		home:    &opencodePlace,
	},
	{
		Name:     "chatgpt",
		Aliases:  []string{"chat-gpt"},
		About:    "conversations.json of an export of ChatGPT",
		Ext:      ".json",
		Branches: true,
		detect:   detectChatGPT,
		read:     readChatGPT,
		write:    writeChatGPT,
	},
	{
		Name:     "claude-ai",
		Aliases:  []string{"claudeai", "claude.ai"},
		About:    "conversations.json of an export of Claude's web service",
		Ext:      ".json",
		Branches: true,
		detect:   detectClaudeAI,
		read:     readClaudeAI,
		write:    writeClaudeAI,
	},
	{
		Name:     "oasst",
		Aliases:  []string{"openassistant", "open-assistant"},
		About:    "message trees of Open Assistant",
		Ext:      ".jsonl",
		Branches: true,
		detect:   detectOpenAssistant,
		read:     readOpenAssistant,
		write:    writeOpenAssistant,
	},
	{
		Name:   "anthropic",
		About:  "the messages of a request to Anthropic's messages",
		Ext:    ".json",
		detect: detectAnthropic,
		read:   readAnthropic,
		write:  writeAnthropic,
	},
	{
		Name:   "openai",
		About:  "the messages of a request to OpenAI's chat completions",
		Ext:    ".json",
		detect: detectOpenAI,
		read:   readOpenAI,
		write:  writeOpenAI,
	},
	{
		Name:     "markdown",
		Aliases:  []string{"md"},
		About:    "a document for people",
		Ext:      ".md",
		Branches: true,
		write:    writeMarkdown,
	},
}

// Named returns the format of a name or an alias. The error lists all names.
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

// HeadSize is how much of a file [Detect] wants to see, in bytes.
const HeadSize = 256 << 10

// Detect returns the format of a file that begins with head, nil if it is none. It goes
// by what stands there, never by a name.
func Detect(head []byte) *Format {
	for _, f := range Formats {
		if f.detect != nil && f.detect(trimBOM(head)) {
			return f
		}
	}
	return nil
}

// ErrNothing is the error for a file without a conversation.
var ErrNothing = errors.New("there is no conversation in it")

// NewPage returns a format that conversations are only written in, with all branches, by
// a writer of another package.
func NewPage(name, about, ext string, write func(io.Writer, *Transcript) error) *Format {
	return &Format{
		Name: name, About: about, Ext: ext, Branches: true,
		write: func(w io.Writer, t *Transcript, _ Options, _ *report) error { return write(w, t) },
	}
}
