package copilotchat

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/convert/internal/vscode"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
)

var Home = transcript.Home{
	Roots: func(m transcript.Machine) (list []string) {
		for _, dir := range vscode.Users(m, vscode.Own...) {
			list = append(list, path.Join(dir, "workspaceStorage"), path.Join(dir, "globalStorage", "emptyWindowChatSessions"))
		}
		return list
	},
	Holds: func(p string) bool {
		if ext := path.Ext(p); ext != ".json" && ext != ".jsonl" {
			return false
		}
		switch steps := strings.Split(p, "/"); len(steps) {
		case 1: // of a window without a folder
			return true
		case 3:
			return steps[1] == "chatSessions"
		}
		return false
	},
	Dir: func(file string, read func(string) ([]byte, error)) string {
		data, err := read(filepath.Join(filepath.Dir(filepath.Dir(file)), "workspace.json"))
		if err != nil {
			return ""
		}
		return vscode.Folder(data)
	},
	Target: func(m transcript.Machine, t *transcript.Transcript, o transcript.Options) string {
		for _, storage := range vscode.Storages(m, t.WorkDir(), vscode.Own...) {
			if vscode.Exists(m, path.Join(storage, database)) {
				return path.Join(storage, "chatSessions", o.ID+".json")
			}
		}
		return ""
	},
	Resume: func(m transcript.Machine, file string, t *transcript.Transcript, _ transcript.Options) (before, run []string) {
		command := "code"
		for editor, name := range map[string]string{"Code - Insiders": "code-insiders", "VSCodium": "codium"} {
			if strings.Contains(filepath.ToSlash(file), "/"+editor+"/User/") {
				command = name
			}
		}
		opens := t.WorkDir()
		if data, err := m.Read(path.Join(storageOf(file), "workspace.json")); err == nil {
			opens = cmp.Or(vscode.Opens(data), opens)
		}
		return nil, []string{command, opens}
	},
	Register: &transcript.Register{List: listOf, Entry: entryOf, Find: find, Continued: func(m transcript.Machine, file string) bool {
		_, err := m.Stat(strings.TrimSuffix(file, ".json") + ".jsonl")
		return !errors.Is(err, fs.ErrNotExist) // what cannot be read may be there
	}},
}

// database is the database of a folder in workspaceStorage.
const database = "state.vscdb"

// listOf returns the list for the chat in a file. VS Code reads it when it starts, and writes it
// whenever a chat changes. It writes its process id to code.lock.
func listOf(file string) transcript.List {
	storage := storageOf(file)
	return transcript.List{
		Database: path.Join(storage, database),
		Key:      "chat.ChatSessionStore.index",
		Lock:     path.Join(path.Dir(path.Dir(path.Dir(storage))), "code.lock"),
		Program:  "VS Code",
	}
}

// storageOf returns the folder in workspaceStorage of a chat in a file.
func storageOf(file string) string { return path.Dir(path.Dir(filepath.ToSlash(file))) }

// find returns the files in which a chat can be that bough wrote.
func find(m transcript.Machine, id string) (list []string) {
	for _, storage := range vscode.AllStorages(m, vscode.Own...) {
		if vscode.Exists(m, path.Join(storage, database)) {
			list = append(list, path.Join(storage, "chatSessions", id+".json"))
		}
	}
	return list
}

// entryOf returns the entry for a chat. It says that the chat changed now, so that it is at the
// top of the list: VS Code removes the oldest entries of a long one.
func entryOf(t *transcript.Transcript, o transcript.Options) json.RawMessage {
	created, now := t.Created, o.Now.UnixMilli()
	if created.IsZero() {
		created = o.Now
	}
	title := t.Title
	for _, m := range t.Messages {
		if title == "" && m.Role == "user" {
			title, _, _ = strings.Cut(m.Text(), "\n")
		}
	}
	return rawjson.Compact(entry{
		ID: o.ID, Title: cmp.Or(firstRunes(title, maxTitle), "New Chat"), Date: now, Timing: timing{created.UnixMilli(), now, now},
		Location: "panel", State: complete,
	})
}

// maxTitle is the maximum length of a title that VS Code makes of a prompt.
const maxTitle = 200

func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// An entry is what the list has of a chat.
type entry struct {
	ID       string `json:"sessionId"`
	Title    string `json:"title"`
	Date     int64  `json:"lastMessageDate"`
	Timing   timing `json:"timing"`
	Location string `json:"initialLocation"`
	Edits    bool   `json:"hasPendingEdits"`
	Empty    bool   `json:"isEmpty"`
	External bool   `json:"isExternal"`
	State    int    `json:"lastResponseState"`
}

type timing struct {
	Created int64 `json:"created"`
	Started int64 `json:"lastRequestStarted"`
	Ended   int64 `json:"lastRequestEnded"`
}
