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
		case key == keyTitle, key == keyContinuedFrom, key == keyContinuedTo, strings.HasSuffix(key, "_count"):
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

// fileOf returns the content of the session file with a shell, a title and messages. dialect is
// the one of the folder.
func fileOf(id string, shell []byte, title string, messages [][]byte, active string, dialect session.Dialect) ([]byte, error) {
	if err := rawjson.Check(shell); err != nil {
		return nil, err
	}
	root := rawjson.Root(shell)
	if _, err := rawjson.Members(shell, root); err != nil || shell[root.Start] != '{' {
		return nil, cmp.Or(err, fmt.Errorf("not a JSON object"))
	}
	var list []byte
	for i, raw := range messages {
		glue := session.Separator
		if i == 0 {
			glue = session.Separator[1:]
		}
		list = append(append(list, glue...), raw...)
	}
	if len(messages) > 0 {
		list = append(list, "\n"+rawjson.Indent...)
	}
	var pairs []rawjson.Pair
	for _, p := range rawjson.Pairs(shell, root) {
		switch p.Key {
		case keyCreated:
			at, ok := session.ParseTime(gjson.ParseBytes(p.Value).String())
			if ok && dialect == session.Penguin {
				p.Value = rawjson.Compact(dialect.Time(at))
			}
		case keyActive:
			continue
		case keyMetadata:
			metadata, err := metadataIn(dialect, p.Value, title, len(messages))
			if err != nil {
				return nil, err
			}
			p.Value = metadata
			pairs = append(pairs, rawjson.Pair{Key: keyActive, Value: rawjson.Compact(active)})
		case keyMessages:
			p.Value = slices.Concat([]byte("["), list, []byte("]"))
			pairs = append(pairs, p)
			continue
		case keyID:
			p.Value = rawjson.Compact(id)
		default:
			p.Value = rawjson.Layout(p.Value, 1)
		}
		pairs = append(pairs, p)
	}
	return rawjson.AppendObject(nil, pairs, 0), nil
}

// metadataIn returns the metadata of a shell with a title and the number of messages, with the
// links of a dialect.
func metadataIn(dialect session.Dialect, neutral []byte, title string, messages int) ([]byte, error) {
	root := rawjson.Root(neutral)
	if _, err := rawjson.Members(neutral, root); err != nil || neutral[root.Start] != '{' {
		return nil, cmp.Or(err, fmt.Errorf("metadata is not an object"))
	}
	var pairs []rawjson.Pair
	if title != "" {
		pairs = append(pairs, rawjson.Pair{Key: keyTitle, Value: rawjson.Compact(title)})
	}
	pairs = append(pairs, rawjson.Pair{Key: keyCount, Value: rawjson.Compact(messages)})
	snapshot := false
	for _, name := range []string{"branched_from", "branch_point"} {
		snapshot = snapshot || gjson.GetBytes(neutral, name).Str != ""
	}
	for _, p := range rawjson.Pairs(neutral, root) {
		if p.Key == keyTitle || p.Key == keyCount || p.Key == keyContinuedTo {
			continue
		}
		if p.Key == keyContinuedFrom && dialect == session.Penguin {
			from := gjson.ParseBytes(p.Value).Get("0")
			if snapshot || !from.Exists() {
				continue
			}
			p.Value = []byte(from.Raw)
		}
		p.Value = rawjson.Layout(p.Value, 2)
		pairs = append(pairs, p)
		if p.Key == keyContinuedFrom && dialect == session.Bough {
			pairs = append(pairs, rawjson.Pair{Key: keyContinuedTo, Value: []byte("[]")})
		}
	}
	return rawjson.AppendObject(nil, pairs, 1), nil
}
