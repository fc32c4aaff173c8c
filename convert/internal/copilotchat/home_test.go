package copilotchat

import (
	"io/fs"
	"testing"

	"github.com/bough-dev/bough/convert/transcript"
)

func TestContinuedIfUnreadable(t *testing.T) {
	for err, want := range map[error]bool{nil: true, fs.ErrPermission: true, fs.ErrNotExist: false} {
		m := transcript.Machine{Stat: func(string) (fs.FileInfo, error) { return nil, err }}
		if got := Home.Register.Continued(m, "/chatSessions/a.json"); got != want {
			t.Errorf("%v: got %v", err, got)
		}
	}
}
