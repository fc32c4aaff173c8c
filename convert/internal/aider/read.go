// Package aider reads the chat histories of Aider: a Markdown file to which the program appends
// what was said in the sessions of a project. Each session is a conversation.
//
// A line of a prompt begins with four number signs, one of the program with a quotation mark,
// and both end with two spaces, which tells them from headings and quotations of an answer; in
// a file without such spaces, the beginning decides. All other lines are answers. A prompt
// that begins with a slash is a command, and a message only if an answer follows.
//
// There are no ids: a message is identified by the time of its session, its text, and the
// messages before it. A record is a JSON string with lines of the file.
//
// The form is that of aider/io.py (append_chat_history, user_input, ai_output) and
// aider/utils.py (split_chat_history_markdown) in the repository Aider-AI/aider.
package aider

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/riders"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
)

const (
	format  = "aider"
	started = "# aider chat started at "
	prompt  = "#### "
)

func Detect(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, "\r\n"), []byte(started))
}

// A kind is what the lines of a block are.
type kind byte

const (
	none kind = iota
	begins
	prompts
	notes
	answers
)

type reader struct {
	to     transcript.Sink
	spaced bool // prompts and notes end with two spaces

	conv    transcript.Conversation
	riding  riders.List
	held    *transcript.Message
	last    string // the id of the last message, that of the session before the first
	command string // a prompt that may be a command, "" for none
	until   int    // how many riders precede its end

	kind  kind
	lines []string // of the block
	ended bool     // a blank line follows
	open  bool     // the last line of a note did not end it
}

func Read(in io.Reader, to transcript.Sink) error {
	b := bufio.NewReaderSize(in, jsonl.HeadSize)
	head, _ := b.Peek(jsonl.HeadSize)
	r := &reader{to: to}
	for line := range bytes.Lines(head) {
		r.spaced = r.spaced || bytes.HasPrefix(line, []byte(prompt)) && bytes.HasSuffix(bytes.TrimRight(line, "\r\n"), []byte("  "))
	}
	for number := 1; ; number++ {
		line, err := b.ReadString('\n')
		switch {
		case err == io.EOF && line != "":
			to.Problem(transcript.Problem{Line: number, What: "truncated"})
			fallthrough
		case err == io.EOF:
			return r.end()
		case err != nil:
			return err
		}
		if err := r.line(strings.ToValidUTF8(line, "\uFFFD")); err != nil {
			return err
		}
	}
}

func (r *reader) line(line string) error {
	text := strings.TrimRight(line, "\r\n")
	is := answers
	marked := !r.spaced || strings.HasSuffix(text, "  ")
	switch {
	case begun(text):
		is = begins
	case strings.HasPrefix(text, prompt) && marked:
		is = prompts
	case strings.HasPrefix(text, "> ") && marked:
		is = notes
	case strings.TrimSpace(text) == "":
		r.lines, r.ended = append(r.lines, line), true
		return nil
	case r.open || !r.ended && (r.kind == notes || r.kind == prompts && strings.HasPrefix(text, "> ")):
		// What the program says has the mark at the beginning of its first line and at the end of its
		// last one. A blank line precedes an answer.
		is = notes
	}
	r.open = is == notes && !marked
	if is != r.kind && r.kind != none || is == begins || is == prompts && r.ended {
		if err := r.block(); err != nil {
			return err
		}
	}
	r.kind, r.ended = is, false
	r.lines = append(r.lines, line)
	return nil
}

// begun reports whether a line begins a session.
func begun(text string) bool {
	at, found := strings.CutPrefix(text, started)
	_, err := time.Parse(time.DateTime, strings.TrimSpace(at))
	return found && err == nil
}

// block processes the lines of a block.
func (r *reader) block() error {
	raw := rawjson.Compact(strings.Join(r.lines, ""))
	is, lines := r.kind, r.lines
	r.kind, r.lines = none, nil
	if is == none && len(lines) == 0 {
		return nil
	}
	text := textOf(is, lines)
	switch {
	case is == begins:
		if err := r.session(); err != nil {
			return err
		}
		at, _ := time.Parse(time.DateTime, text)
		r.last = transcript.ChainID(format, []byte(text))
		r.conv = transcript.Conversation{ID: r.last, Created: at}
	case is == prompts && text != "<blank>":
		r.riding.Add(raw, true)
		r.command, r.until = "", len(r.riding)
		if strings.HasPrefix(text, "/") {
			r.command = text
			return nil
		}
		return r.say("user", text, len(r.riding))
	case is == answers && text != "":
		r.riding.Add(raw, true)
		if r.command != "" {
			command := r.command
			r.command = ""
			if err := r.say("user", command, r.until); err != nil {
				return err
			}
		}
		return r.say("assistant", text, len(r.riding))
	}
	r.riding.Add(raw, false)
	return nil
}

// textOf returns what is said in the lines of a block.
func textOf(is kind, lines []string) string {
	list := make([]string, len(lines))
	for i, line := range lines {
		list[i] = strings.TrimRight(line, "\r\n")
		switch is {
		case begins:
			list[i] = strings.TrimPrefix(list[i], started)
		case prompts:
			list[i] = strings.TrimSuffix(strings.TrimPrefix(list[i], prompt), "  ")
		}
	}
	return strings.TrimSpace(strings.Join(list, "\n"))
}

// say holds a message and passes on the one before. n is how many riders are its own, or of
// the message before.
func (r *reader) say(role, text string, n int) error {
	m := &transcript.Message{Message: content.Message{Role: role, Parts: []content.Part{content.Text(text)}}, Format: format}
	m.ID = transcript.ChainID(r.last, rawjson.Compact([]string{role, text}))
	if r.held != nil {
		m.Parent = r.last
	}
	r.riding.Assign(n, m, r.held, &r.conv)
	if r.held != nil {
		if err := r.to.Message(r.held); err != nil {
			return err
		}
	}
	r.held, r.last = m, m.ID
	return nil
}

// session ends a session, if it has messages.
func (r *reader) session() error {
	held := r.held
	r.held, r.command = nil, ""
	if held == nil {
		r.riding = nil
		return nil
	}
	held.Records = append(held.Records, r.riding.Records()...)
	r.riding = nil
	if err := r.to.Message(held); err != nil {
		return err
	}
	return r.to.End(&r.conv)
}

// end ends the file. The last message is open if nothing follows it: it may go on.
func (r *reader) end() error {
	if err := r.block(); err != nil {
		return err
	}
	if r.held != nil && len(r.riding) == 0 {
		r.held.Open = true
	}
	return r.session()
}
