package checkpoint

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/bounded"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

const (
	penguinDir = "checkpoints"
	penguinExt = ".json.gz"

	// maxPenguin is the maximum uncompressed size of one of Penguin's checkpoints.
	maxPenguin = 1 << 30
)

// A Penguin describes a checkpoint that Penguin made, in its own file
// checkpoints/ID.json.gz.
type Penguin struct {
	ID           string
	Type         string // auto, manual, branch, rollback
	Name         string
	Session      string // the session of the checkpoint
	Message      string // the message of the checkpoint
	MessageCount int    // of that session's file at the time
	CreatedAt    time.Time
	Auto         bool
	Err          error // why the file cannot be read, nil if it can; then all other fields but ID are zero
}

// PenguinFile returns the path of a checkpoint's file, relative to the workspace.
func PenguinFile(id string) string { return penguinDir + "/" + id + penguinExt }

// isPenguin reports whether id has the form of the id of one of Penguin's
// checkpoints.
func isPenguin(id string) bool { return strings.HasPrefix(id, "cp_") && sessionid.Valid(id) }

// ListPenguin returns Penguin's checkpoints, oldest first. Checkpoints that are
// missing from Penguin's own list are read from their files; an entry that cannot be
// read has only its ID and Err.
func ListPenguin(root *os.Root) ([]Penguin, error) {
	entries, err := durable.ReadDir(root, penguinDir)
	var special *durable.NotRegularError
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &special) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Penguin
	known, _ := durable.ReadFile(root, penguinDir+"/checkpoint_index.json")
	if rawjson.Check(known) != nil {
		known = nil
	}
	byID := gjson.ParseBytes(known).Map()
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), penguinExt)
		if !ok || !isPenguin(id) {
			continue
		}
		meta := byID[id]
		if !meta.IsObject() {
			data, err := unpack(root, id)
			if err != nil {
				list = append(list, Penguin{ID: id, Err: err})
				continue
			}
			meta = gjson.GetBytes(data, "metadata")
		}
		list = append(list, penguin(id, meta))
	}
	slices.SortStableFunc(list, func(a, b Penguin) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list, nil
}

func penguin(id string, meta gjson.Result) Penguin {
	created, _ := session.ParseTime(meta.Get("created_at").String())
	return Penguin{
		ID:           id,
		Type:         meta.Get("type").String(),
		Name:         meta.Get("name").String(),
		Session:      meta.Get("session_id").String(),
		Message:      meta.Get("message_id").String(),
		MessageCount: int(meta.Get("message_count").Int()),
		CreatedAt:    created,
		Auto:         meta.Get("auto").Bool(),
	}
}

// ReadPenguin reads one of Penguin's checkpoints as a session with the checkpoint's
// id. An automatic one holds a single file of a line, so the session may continue
// another. The error is [session.ErrNotFound] if it does not exist and a
// *[session.DamageError] if it cannot be read; offsets count uncompressed bytes.
func ReadPenguin(root *os.Root, id string) (*session.Session, error) {
	if !isPenguin(id) {
		return nil, session.ErrNotFound
	}
	data, err := unpack(root, id)
	if err != nil {
		return nil, err
	}
	content := gjson.GetBytes(data, "session")
	if !content.IsObject() {
		return nil, damage(id, 0, "no session object")
	}
	s, err := session.Decode(id, []byte(content.Raw))
	var broken *session.DamageError
	if errors.As(err, &broken) {
		broken.Path, broken.Offset = PenguinFile(id), broken.Offset+content.Index
	}
	return s, err
}

// unpack returns the JSON document of a checkpoint's file after validation.
func unpack(root *os.Root, id string) ([]byte, error) {
	packed, err := durable.ReadFile(root, PenguinFile(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, session.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, damage(id, 0, err.Error())
	}
	data, err := bounded.ReadAll(z, maxPenguin)
	switch {
	case errors.As(err, new(*bounded.TooLongError)):
		return nil, damage(id, len(data), "unpacks to "+err.Error())
	case err != nil:
		return nil, damage(id, len(data), err.Error())
	}
	var syntax *rawjson.SyntaxError
	if err := rawjson.Check(data); errors.As(err, &syntax) {
		return nil, damage(id, syntax.Offset, syntax.Problem)
	}
	return data, nil
}

func damage(id string, offset int, problem string) error {
	return &session.DamageError{Path: PenguinFile(id), Offset: offset, Problem: problem}
}
