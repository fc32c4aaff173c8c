package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
)

// A filesChat is an agent whose turns take states of a folder. Its tool write writes a file.
type filesChat struct {
	*space
	dir     string
	written int
}

func newFilesChat(t *testing.T) *filesChat {
	c := &filesChat{space: openSpace(t, t.TempDir(), 0), dir: t.TempDir()}
	c.agent("ada")
	c.put("0")
	return c
}

func (c *filesChat) put(content string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, "file"), []byte(content), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// options returns turn options with a model that says lines.
func (c *filesChat) options(lines ...string) agents.TurnOptions {
	o := with(tools{"write": func(context.Context) (model.Result, error) {
		c.written++
		c.put(strings.Repeat("x", c.written))
		return model.Result{Text: "written"}, nil
	}}, map[string]model.Model{"m": &script{lines: lines}})
	o.Allow = func(model.Tool) bool { return true }
	o.Files = c.dir
	return o
}

// states returns role, why and content of the state of each message on the path to the head that
// has one of its own.
func (c *filesChat) states() string {
	c.t.Helper()
	h := c.head("ada")
	p, err := c.Line(h.Tree).Path(c.t.Context(), h.Node, session.ReadOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	var list []string
	for _, n := range p.Nodes {
		e, err := c.Folder(c.dir).Show(c.t.Context(), h.Tree+"@"+n.ID, "file")
		if err != nil && !errors.Is(err, fault.NotFound) {
			c.t.Fatal(err)
		}
		if err == nil && e.State.Exact {
			why := e.State.At
			if e.State.Late {
				why += " late"
			}
			list = append(list, n.Role()+" "+why+" "+string(e.Content))
		}
	}
	return strings.Join(list, "\n")
}

// TestChatFiles: the first message of a turn and its answer name states of the folder, also in
// copies of the conversation.
func TestChatFiles(t *testing.T) {
	t.Parallel()
	c := newFilesChat(t)
	c.tell("ada", "change it", c.options("|write write", "once more|write", "done"))
	c.put("by the user")
	c.tell("ada", "again", c.options("nothing to do"))
	want := "user prompt 0\nassistant end xxx\nuser prompt by the user\nassistant end by the user"
	if got := c.states(); got != want {
		t.Errorf("states\n%s\nwant\n%s", got, want)
	}
	list, err := c.States(t.Context(), c.head("ada").Tree)
	if err != nil || len(list.States) != 4 || list.States[0].Message == "" {
		t.Errorf("%+v, %v", list, err)
	}
	point, err := c.Checkpoint(t.Context(), "HEAD", workspace.SnapshotOptions{})
	if err == nil {
		t.Errorf("the agent's head is not that of the workspace: %+v", point)
	}
	point, err = c.Checkpoint(t.Context(), c.head("ada").Tree, workspace.SnapshotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Folder(c.dir).Show(t.Context(), point.ID+"~2", "file")
	if err != nil || !e.State.Exact || string(e.Content) != "xxx" {
		t.Errorf("in the checkpoint: %+v, %v", e, err)
	}
	fresh := c.options("hi")
	if _, err := c.Agent("ada").Chat(t.Context(), agents.Prompt{Text: "new", Fresh: true}, fresh); err != nil {
		t.Fatal(err)
	}
	if list, err := c.States(t.Context(), c.head("ada").Tree); err != nil || len(list.States) != 2 {
		t.Errorf("a fresh tree: %+v, %v", list, err)
	}
	healthy(t, c.space)
}

// TestChatFilesFailed: a turn that fails has the state of its end too, for its last message, and
// one that is asked for again has the state of its answer.
func TestChatFilesFailed(t *testing.T) {
	t.Parallel()
	c := newFilesChat(t)
	_, err := c.Agent("ada").Chat(t.Context(), agents.Prompt{Text: "change it"}, c.options("|write", "|fail no"))
	if !errors.Is(err, fault.Failed) {
		t.Fatal(err)
	}
	if got := c.states(); got != "user prompt 0\ntool end x" {
		t.Errorf("after the failure\n%s", got)
	}
	if _, err := c.Agent("ada").Retry(t.Context(), c.options("|write", "done")); err != nil {
		t.Fatal(err)
	}
	if got := c.states(); !strings.HasSuffix(got, "\nassistant end xx") || !strings.HasPrefix(got, "user prompt 0\n") {
		t.Errorf("after the retry\n%s", got)
	}
}

// TestChatFilesRefused: a folder that cannot have states is refused before anything is
// written, and without the option no state is taken.
func TestChatFilesRefused(t *testing.T) {
	t.Parallel()
	c := newFilesChat(t)
	for _, dir := range []string{filepath.Join(c.dir, "missing"), filepath.VolumeName(c.dir) + string(filepath.Separator)} {
		o := c.options("hi")
		o.Files = dir
		if _, err := c.Agent("ada").Chat(t.Context(), agents.Prompt{Text: "hello"}, o); !errors.Is(err, fault.NotFound) && !errors.Is(err, fault.Refused) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if got := c.said("ada"); got != "" {
		t.Errorf("said was %s", got)
	}
	c.tell("ada", "hello", modelSaying("hi"))
	if list, err := c.States(t.Context(), ""); err != nil || len(list.States) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestChatFilesLate: while another process works on the folder, a turn waits for its states for
// a limited time; they are late, and belong to the same messages.
func TestChatFilesLate(t *testing.T) {
	t.Parallel()
	c := newFilesChat(t)
	asked := &script{lines: []string{"done"}, at: make(chan struct{}, 1)}
	o := c.options()
	o.Models = func(context.Context, string) (model.Model, error) { return asked, nil }
	var chatErr error
	done := make(chan struct{})
	other, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{
		UserState: filepath.Join(c.Dir(), ".bough"),
		Progress: func(string, int64, int64) {
			go func() {
				defer close(done)
				_, chatErr = c.Agent("ada").Chat(context.Background(), agents.Prompt{Text: "hello"}, o)
			}()
			<-asked.at // the turn goes on without its state
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Folder(c.dir).Snap(t.Context(), "", files.SnapOptions{}); err != nil {
		t.Fatal(err)
	}
	if <-done; chatErr != nil {
		t.Fatal(chatErr)
	}
	if got := c.states(); got != "user prompt late 0\nassistant end 0" {
		t.Errorf("states\n%s", got)
	}
}
