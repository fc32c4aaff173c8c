package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bough-dev/bough/internal/testchat"
)

// A size says how much work there is.
type size struct {
	messages int // of the chat
	perFile  int // of those in one session file
	text     int // bytes of content in a message, about
	branch   int // the message to branch at, from 1
	sessions int // in the index
	growFrom int // messages at the first of the growing checkpoints
	growBy   int // and between one and the next
	adds     int // to the index in one round

	transcripts int // conversations that go through a bucket
	turns       int // of a user in each
}

var full = size{
	messages: 10_000, perFile: 834, text: 1530, branch: 5_000,
	sessions: 100_000, adds: 5,
	growFrom: 9_020, growBy: 20,
	transcripts: 120, turns: 20,
}

// A chat is a conversation as the files that hold it.
type chat []testchat.File

// A work is the work that all candidates do.
type work struct {
	size
	dir     string // where all of it happens
	chained chat   // the conversation, in a chain of session files
	single  chat   // the same in one
	bough   string // the command, once it is built

	transcript string // the id of one of the conversations that go through a bucket
}

// newWork makes the conversation, and a new folder in dir.
func newWork(dir string, size size) (*work, error) {
	dir, err := os.MkdirTemp(dir, "bough-bench-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	w := &work{size: size, dir: dir}
	w.chained, w.single = w.files(size.messages, false), w.files(size.messages, true)
	return w, nil
}

// files makes the conversation at n messages.
func (w *work) files(n int, oneFile bool) chat {
	c := testchat.Chat{Messages: n, PerFile: w.perFile, Text: w.text}
	if oneFile {
		c.PerFile = n
	}
	return c.Files()
}

// growing generates the conversation at each of the growing checkpoints.
func (w *work) growing(oneFile bool, f func(chat) error) error {
	for n := w.growFrom; n <= w.messages; n += w.growBy {
		if err := f(w.files(n, oneFile)); err != nil {
			return err
		}
	}
	return nil
}

func (c chat) messages() []testchat.Message { return testchat.All(c) }

func (c chat) tail() testchat.File { return c[len(c)-1] }

func (c chat) bytes() (n int64) {
	for _, f := range c {
		n += int64(len(f.Data))
	}
	return n
}

// messagesEnd ends the list of messages in a session file.
const messagesEnd = "\n  ],\n"

// cut returns the conversation up to its nth message.
func (c chat) cut(n int) chat {
	for i, f := range c {
		if n > len(f.Messages) {
			n -= len(f.Messages)
			continue
		}
		last := f.Messages[n-1].Raw
		from := bytes.Index(f.Data, last) + len(last)
		f.Messages = f.Messages[:n]
		f.Data = bytes.Join([][]byte{f.Data[:from], f.Data[bytes.LastIndex(f.Data, []byte(messagesEnd)):]}, nil)
		return append(c[:i:i], f)
	}
	panic("bench: the chat has fewer messages")
}

// grown returns the conversation with one message more in its last file.
func (c chat) grown() chat {
	f := c.tail()
	m := f.Messages[len(f.Messages)-1]
	raw := bytes.Replace(m.Raw, []byte(m.ID), []byte("msg_later"), 1)
	end := bytes.LastIndex(f.Data, []byte(messagesEnd))
	f.Messages = append(f.Messages[:len(f.Messages):len(f.Messages)], testchat.Message{ID: "msg_later", Raw: raw})
	f.Data = bytes.Join([][]byte{f.Data[:end], []byte(",\n    "), raw, f.Data[end:]}, nil)
	return append(c[:len(c)-1:len(c)-1], f)
}

// write makes the folder conversations in dir contain exactly c, without
// changing files that are as in before.
func (c chat) write(dir string, before chat) error {
	dir = filepath.Join(dir, "conversations")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	old := map[string][]byte{}
	for _, f := range before {
		old[f.ID] = f.Data
	}
	for _, f := range c {
		if !bytes.Equal(old[f.ID], f.Data) {
			if err := os.WriteFile(filepath.Join(dir, f.ID+".json"), f.Data, 0o600); err != nil {
				return err
			}
		}
		delete(old, f.ID)
	}
	for id := range old {
		if err := os.Remove(filepath.Join(dir, id+".json")); err != nil {
			return err
		}
	}
	return nil
}

// same reports how the messages that a candidate stored differ from those of
// the conversation, byte for byte.
func same(got [][]byte, want []testchat.Message) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d messages, want %d", len(got), len(want))
	}
	for i, m := range want {
		if !bytes.Equal(got[i], m.Raw) {
			return fmt.Errorf("message %d is %q, want %q", i+1, got[i], m.Raw)
		}
	}
	return nil
}

// compacted returns messages as the command prints them with --json: without the white
// space between their tokens.
func compacted(list []testchat.Message) []testchat.Message {
	short := slices.Clone(list)
	for i, m := range list {
		var b bytes.Buffer
		if err := json.Compact(&b, m.Raw); err != nil {
			panic(err) // the messages are our own
		}
		short[i].Raw = b.Bytes()
	}
	return short
}

// sameDocument compares the messages of a session file in the same way as same.
func sameDocument(data []byte, want []testchat.Message) error {
	var s struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	got := make([][]byte, len(s.Messages))
	for i, m := range s.Messages {
		got[i] = m
	}
	return same(got, want)
}
