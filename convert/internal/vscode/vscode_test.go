package vscode_test

import (
	"io/fs"
	"path"
	"slices"
	"testing"

	"github.com/bough-dev/bough/convert/internal/vscode"
	"github.com/bough-dev/bough/convert/transcript"
)

// TestWorkspaceFiles: the folders of a file of a workspace are relative to it, or absolute.
func TestWorkspaceFiles(t *testing.T) {
	for _, c := range []struct{ os, uri, list, dir string }{
		{"linux", "file:///home/ann/w/x.code-workspace", `{"path":"../shop"}`, "/home/ann/shop"},
		{"linux", "file:///home/ann/w/x.code-workspace", `{"path":"/home/ann/shop"}`, "/home/ann/shop"},
		{"windows", "file:///c%3A/w/x.code-workspace", `{"path":"../shop"}`, `C:\shop`},
		{"windows", "file:///c%3A/w/x.code-workspace", `{"path":"d:\\shop"}`, `D:\shop`},
		{"windows", "file:///c%3A/w/x.code-workspace", `{"uri":"file:///d%3A/shop"}`, `D:\shop`},
		{"linux", "vscode-remote://box/home/ann/w/x.code-workspace", `{"path":"../shop"}`, ""},
		{"linux", "file:///home/ann/w/x.code-workspace", `{"uri":"vscode-remote://box/home/ann/shop"}`, ""},
	} {
		m := transcript.Machine{
			OS: c.os, Home: "/u", Env: func(string) string { return "" }, Names: func(string) []string { return []string{"a"} },
			Stat: func(string) (fs.FileInfo, error) { return nil, fs.ErrNotExist },
			Read: func(p string) ([]byte, error) {
				if path.Base(p) == "workspace.json" {
					return []byte(`{"workspace":"` + c.uri + `"}`), nil
				}
				return []byte("{// folders\n\"folders\":[{},7," + c.list + ",]}"), nil
			},
		}
		for _, dir := range []string{"/home/ann/shop", `C:\shop`, `D:\shop`} {
			if got := len(vscode.Storages(m, dir, "Code")) == 1; got != (dir == c.dir) {
				t.Errorf("on %s, %s is in %s of %s: %v", c.os, dir, c.list, c.uri, got)
			}
		}
	}
}

func TestStoragesAreLocal(t *testing.T) {
	all := "/home/u/.config/Code/User/workspaceStorage"
	files := map[string]string{
		path.Join(all, "a", "workspace.json"): `{"folder":"vscode-remote://ssh-remote%2Bbox/home/ann/shop"}`,
		path.Join(all, "b", "workspace.json"): `{"folder":"file:///home/ann/shop"}`,
	}
	m := transcript.Machine{
		OS: "linux", Home: "/home/u", Env: func(string) string { return "" },
		Names: func(string) []string { return []string{"a", "b"} },
		Stat:  func(string) (fs.FileInfo, error) { return nil, fs.ErrNotExist },
		Read: func(p string) ([]byte, error) {
			data, ok := files[p]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(data), nil
		},
	}
	if got := vscode.Storages(m, "/home/ann/shop", "Code"); !slices.Equal(got, []string{path.Join(all, "b")}) {
		t.Errorf("got %q", got)
	}
}
