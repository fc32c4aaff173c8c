package remote

import (
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"github.com/bough-dev/bough/internal/durable"
)

// An Exchange is a push, pull or sync of this workspace.
type Exchange struct {
	Verb   string    `json:"verb"` // push, pull or sync
	Time   time.Time `json:"time"` // when it ended
	Result *Result   `json:"result"`
}

// lastFile has the last Exchange. It may be lost.
const lastFile = "last.json"

// Last returns the last exchange that sent, received or changed something, or whose result has
// conflicts, problems, or entries in Left or Unshared. It returns nil if there was none. It makes
// no request.
func (r *Remote) Last() (*Exchange, error) {
	data, err := durable.ReadFile(r.root, lastFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var last Exchange
	if json.Unmarshal(data, &last) != nil || last.Result == nil {
		return nil, nil // of another version, or damaged
	}
	return &last, nil
}

// remember stores an exchange, if it did anything.
func (j *job) remember(verb string, r *Result) error {
	if j.dry || r.Sent.Records+r.Got.Records+len(r.Sessions)+len(r.Conflicts)+len(r.Left)+len(r.Unshared)+len(r.Problems) == 0 {
		return nil
	}
	return writeJSON(j.root, lastFile, Exchange{verb, j.opts.now(), r})
}
