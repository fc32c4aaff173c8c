package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestVSCodeReads: VS Code's own store of chats lists and opens what bough writes for it: a path as
// one object, and all branches as a journal, in which the path to the leaf remains.
func TestVSCodeReads(t *testing.T) {
	const dir = "testdata/vscode"
	needPackages(t, dir, "@codingame/monaco-vscode-chat-service-override", "esbuild")
	f, err := convert.Named("copilot-chat")
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile("testdata/transcripts.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, file := range archive.Files {
		files[file.Name] = file.Data
	}
	paths, err := filepath.Glob(filepath.Join("..", "..", "convert", "testdata", "copilot-chat", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	type written struct {
		name    string
		path    []*transcript.Message
		storage string
	}
	var all []written
	var storages []string
	for name, data := range files {
		from := convert.Detect(data[:min(len(data), convert.HeadSize)])
		if from == nil {
			t.Fatalf("%s is not recognized", name)
		}
		list, _, err := from.ReadAll(bytes.NewReader(data))
		if err != nil {
			t.Fatal(name, err)
		}
		whole := list[0]
		if from != f {
			whole.Format, whole.Records = from.Name, nil
		}
		whole.Title = "Title of " + name
		path := activePath(whole)
		for _, ext := range []string{".json", ".jsonl"} {
			one := *whole
			if one.Format = from.Name; ext == ".json" {
				one.Messages = path
			}
			o := transcript.Options{ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", len(all)), Now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
			var b bytes.Buffer
			if _, err := f.Write(&b, &one, o); err != nil {
				t.Fatal(name, err)
			}
			if is := bytes.HasPrefix(b.Bytes(), []byte(`{"kind":0`)); is != (ext == ".jsonl") {
				continue // it has one branch
			}
			storage := t.TempDir()
			if err := os.Mkdir(filepath.Join(storage, "chatSessions"), 0o700); err != nil {
				t.Fatal(err)
			}
			for path, data := range map[string][]byte{
				filepath.Join("chatSessions", o.ID+ext): b.Bytes(),
				"index.json":                            []byte(`{"version":1,"entries":{"` + o.ID + `":` + string(f.Register().Entry(&one, o)) + `}}`),
			} {
				if err := os.WriteFile(filepath.Join(storage, path), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			all = append(all, written{name + ext, path, storage})
			storages = append(storages, storage)
		}
	}
	if len(all) < 15 {
		t.Fatalf("only %d files are written", len(all))
	}
	vsCode := judge{"copilot-chat", "VS Code", []string{"chats.mjs"}}
	for i, got := range vsCode.readIn(t, dir, storages...) {
		w := all[i]
		if said := got.Get("complaints"); said.Raw != "[]" {
			t.Errorf("%s: VS Code says %s", w.name, said)
		}
		chat := got.Get("chats.0")
		if !chat.Get("same").Bool() || !chat.Get("importable").Bool() || !strings.HasPrefix(chat.Get("title").Str, "Title of ") {
			t.Errorf("%s is %.300s", w.name, chat)
		}
		var prompts, answers, thinking strings.Builder
		tools := 0
		for _, r := range chat.Get("requests").Array() {
			fmt.Fprintln(&prompts, r.Get("prompt").Str)
			fmt.Fprintln(&answers, r.Get("answer").Str)
			fmt.Fprintln(&thinking, r.Get("thinking").Str)
			tools += len(r.Get("tools").Array())
		}
		at := map[string]*strings.Builder{"user": &prompts, "assistant": &answers}
		calls := 0
		for _, m := range w.path {
			for n := range m.Parts {
				p := &m.Parts[n]
				in := at[m.Role]
				switch p.Type {
				case content.TypeToolCall:
					calls++
					continue
				case content.TypeThinking:
					in = &thinking
				case content.TypeText:
				default:
					continue
				}
				if p.Text == "I run it." {
					continue // an older file has it only in what the extension keeps
				}
				if !strings.Contains(in.String(), p.Text) {
					t.Errorf("%s: VS Code does not have %s %.100q, only\n%s", w.name, m.Role, p.Text, in)
				}
			}
		}
		if tools != calls {
			t.Errorf("%s: VS Code has %d calls of tools, want %d", w.name, tools, calls)
		}
	}
}

// activePath returns the messages on the path to the leaf of a transcript.
func activePath(t *transcript.Transcript) (path []*transcript.Message) {
	in := map[string]*transcript.Message{}
	for _, m := range t.Messages {
		in[m.ID] = m
	}
	m := in[t.Leaf]
	if m == nil {
		m = t.Messages[len(t.Messages)-1]
	}
	for ; m != nil && len(path) < len(t.Messages); m = in[m.Parent] {
		path = append([]*transcript.Message{m}, path...)
	}
	return path
}
