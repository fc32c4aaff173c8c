package vscode_test

import (
	"io/fs"
	"path"
	"slices"
	"testing"

	"github.com/bough-dev/bough/convert/internal/vscode"
	"github.com/bough-dev/bough/convert/transcript"
)

func TestStoragesAreLocal(t *testing.T) {
	all := "/home/u/.config/Code/User/workspaceStorage"
	files := map[string]string{
		path.Join(all, "a", "workspace.json"): `{"folder":"vscode-remote://ssh-remote%2Bbox/home/ann/shop"}`,
		path.Join(all, "b", "workspace.json"): `{"folder":"file:///home/ann/shop"}`,
	}
	m := transcript.Machine{
		OS: "linux", Home: "/home/u", Env: func(string) string { return "" },
		Names: func(string) []string { return []string{"a", "b"} },
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
