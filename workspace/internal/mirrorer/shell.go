package mirrorer

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// The members of a session file and of its metadata that a shell treats specially.
const (
	keyID            = "id"
	keyCreated       = "created_at"
	keyActive        = "last_active"
	keyMetadata      = "metadata"
	keyMessages      = "messages"
	keyTitle         = "title"
	keyCount         = "message_count"
	keyContinuedFrom = "continued_from"
	keyContinuedTo   = "continued_to"
)

// shellOf returns the shell of a session; see [mirror.Session].
func shellOf(s *session.Session) []byte {
	data := s.Bytes()
	var pairs []rawjson.Pair
	for _, p := range rawjson.Pairs(data, rawjson.Root(data)) {
		switch p.Key {
		case keyID:
			p.Value = rawjson.Compact(s.ID)
		case keyCreated:
			if at, ok := session.ParseTime(s.CreatedAt); ok {
				p.Value = rawjson.Compact(session.Bough.Time(at))
			}
		case keyActive, keyMetadata:
			continue
		case keyMessages:
			pairs = append(pairs, rawjson.Pair{Key: keyMetadata, Value: neutralMetadata(s)})
			p.Value = []byte("[]")
		}
		p.Value = rawjson.Dense(p.Value)
		pairs = append(pairs, p)
	}
	return rawjson.AppendLine(nil, pairs)
}

// neutralMetadata returns the metadata of a session for its shell.
func neutralMetadata(s *session.Session) []byte {
	var pairs []rawjson.Pair
	m := s.Metadata()
	for key, value := range m.All() {
		switch {
		case key == keyTitle, key == keyContinuedFrom, key == keyContinuedTo, isCount(key):
			continue
		case key == "bough":
			value = neutralSeal(s, value)
		}
		pairs = append(pairs, rawjson.Pair{Key: key, Value: rawjson.Dense(value)})
	}
	from := []string{}
	if origin := s.Meta.Origin(); origin != "" {
		from = append(from, origin)
	}
	return rawjson.AppendLine(nil, append(pairs, rawjson.Pair{Key: keyContinuedFrom, Value: rawjson.Compact(from)}))
}

// neutralSeal returns the member bough of the metadata of a checkpoint with the checksum that its
// messages have in a file without other white space between them. If the messages do not fit the
// seal, it stays as it is.
func neutralSeal(s *session.Session, own []byte) []byte {
	n := s.Frozen()
	if s.Meta.Sealed == nil || s.Meta.Sealed.Messages != n || n == 0 {
		return own
	}
	end := s.Offset(n-1) + len(s.Messages[n-1].Raw)
	if sumText(s.Bytes()[s.Offset(0):end]) != s.Meta.Sealed.CRC32C {
		return own
	}
	raws := make([][]byte, n)
	for i := range raws {
		raws[i] = s.Messages[i].Raw
	}
	sum := sumText(bytes.Join(raws, []byte(session.Separator)))
	with, err := sjson.SetRawBytes(slices.Clone(own), "sealed.crc32c", rawjson.Compact(sum))
	if err != nil {
		return own
	}
	return with
}

func sumText(data []byte) string { return fmt.Sprintf("%08x", crc32c.Of(data)) }

// A frame is what surrounds the messages of a file, beside its shell.
type frame struct {
	id, title, active string
	count             int             // of messages
	continuedTo       []string        // computed
	counts            []rawjson.Pair  // other counts in the metadata
	dialect           session.Dialect // of the links and times
}

// around returns the content of a session file before and after the elements of its messages.
func (f frame) around(shell []byte) (before, after []byte, err error) {
	if err := rawjson.Check(shell); err != nil {
		return nil, nil, err
	}
	root := rawjson.Root(shell)
	members, err := rawjson.Members(shell, root)
	if err != nil || shell[root.Start] != '{' {
		return nil, nil, cmp.Or(err, fmt.Errorf("not a JSON object"))
	}
	if messages, ok := rawjson.Find(members, keyMessages); !ok || gjson.ParseBytes(messages.Of(shell)).Get("#").Int() != 0 || shell[messages.Start] != '[' {
		return nil, nil, fmt.Errorf("its messages are not an empty list")
	}
	var pairs []rawjson.Pair
	messages := -1
	for _, p := range rawjson.Pairs(shell, root) {
		switch p.Key {
		case keyID:
			p.Value = rawjson.Compact(f.id)
		case keyCreated:
			if at, ok := session.ParseTime(gjson.ParseBytes(p.Value).String()); ok && f.dialect == session.Penguin {
				p.Value = rawjson.Compact(f.dialect.Time(at))
			}
		case keyActive:
			continue
		case keyMetadata:
			if f.active != "" {
				pairs = append(pairs, rawjson.Pair{Key: keyActive, Value: rawjson.Compact(f.active)})
			}
			if p.Value, err = f.metadata(p.Value); err != nil {
				return nil, nil, err
			}
		case keyMessages:
			messages = len(pairs)
		default:
			p.Value = rawjson.Layout(p.Value, 1)
		}
		pairs = append(pairs, p)
	}
	for i, p := range pairs {
		part := &before
		if i > messages {
			part = &after
		}
		if i > 0 {
			*part = append(*part, ',')
		}
		*part = append(append(*part, "\n"+rawjson.Indent...), rawjson.Compact(p.Key)...)
		if *part = append(*part, ": "...); i == messages {
			before = append(before, '[')
		} else {
			*part = append(*part, p.Value...)
		}
	}
	return append([]byte("{"), before...), slices.Concat([]byte("]"), after, []byte("\n}")), nil
}

// metadata returns the metadata of a file.
func (f frame) metadata(neutral []byte) ([]byte, error) {
	root := rawjson.Root(neutral)
	if _, err := rawjson.Members(neutral, root); err != nil || neutral[root.Start] != '{' {
		return nil, cmp.Or(err, fmt.Errorf("metadata is not an object"))
	}
	var pairs []rawjson.Pair
	if f.title != "" {
		pairs = append(pairs, rawjson.Pair{Key: keyTitle, Value: rawjson.Compact(f.title)})
	}
	pairs = append(append(pairs, rawjson.Pair{Key: keyCount, Value: rawjson.Compact(f.count)}), f.counts...)
	snapshot := gjson.GetBytes(neutral, "branched_from").Str != ""
	for _, p := range rawjson.Pairs(neutral, root) {
		switch {
		case p.Key == keyTitle, p.Key == keyContinuedTo, isCount(p.Key):
			continue
		case p.Key == keyContinuedFrom && f.dialect == session.Penguin:
			from := gjson.GetBytes(p.Value, "0")
			if snapshot || !from.Exists() {
				continue
			}
			p.Value = []byte(from.Raw)
		}
		p.Value = rawjson.Layout(p.Value, 2)
		pairs = append(pairs, p)
	}
	switch {
	case f.dialect == session.Bough:
		pairs = append(pairs, rawjson.Pair{Key: keyContinuedTo, Value: rawjson.Value(append([]string{}, f.continuedTo...), 2)})
	case len(f.continuedTo) == 1:
		pairs = append(pairs, rawjson.Pair{Key: keyContinuedTo, Value: rawjson.Compact(f.continuedTo[0])})
	case len(f.continuedTo) > 1:
		pairs = append(pairs, rawjson.Pair{Key: keyContinuedTo, Value: rawjson.Value(f.continuedTo, 2)})
	}
	return rawjson.AppendObject(nil, pairs, 1), nil
}

func isCount(key string) bool { return strings.HasSuffix(key, "_count") }

// file returns the content of a session file with messages.
func (f frame) file(shell []byte, messages [][]byte) ([]byte, error) {
	before, after, err := f.around(shell)
	if err != nil || len(messages) == 0 {
		return slices.Concat(before, after), err
	}
	data := append(before, session.Separator[1:]...)
	data = append(data, bytes.Join(messages, []byte(session.Separator))...)
	return slices.Concat(data, []byte("\n"+rawjson.Indent), after), nil
}
