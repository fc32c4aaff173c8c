// Package stream writes and reads the streams of records in a store: one of each machine, numbered
// without gaps, never changed, and written by that machine alone.
//
// The objects of a remote, all but the first encrypted:
//
//	bough.json                format, id, and a token that only the key opens
//	m/MACHINE/00000042        a record
//	m/MACHINE/base-00000400   what records 1 to 400 still say
//	p/SHA256                  a pack: items of many records, named by the stored bytes
//
// Correctness does not depend on a clock, on listings that are up to date, or on a store that
// refuses to replace an object, as long as no two programs write one stream. See Writer for what
// happens if they do, because a disk was copied.
package stream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/workspace/fault"
)

// A Remote is a remote in a store. It is safe for concurrent use.
type Remote struct {
	Store bucket.Store
	Key   *seal.Key
	ID    string // drawn when the remote was created
	Share bool   // it has only some conversations of its machines; the token says so
}

const rootObject = "bough.json"

// root is the content of bough.json.
type root struct {
	Format int    `json:"format"`
	ID     string `json:"id"`
	Token  []byte `json:"token"` // sealed, see tokenOf
}

func tokenOf(id string, share bool) string {
	if share {
		return "bough share " + id
	}
	return "bough remote " + id
}

// Open opens the remote in a store. It writes nothing. The error has the code fault.NotFound if
// there is no remote, and fault.Refused if the remote has another key; it then also wraps
// seal.ErrKey.
func Open(ctx context.Context, store bucket.Store, key *seal.Key) (*Remote, error) {
	data, err := store.Get(ctx, rootObject)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &fault.Error{Code: fault.NotFound, Message: "there is no remote of bough", Err: err}
	}
	if err != nil {
		return nil, err
	}
	var r root
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, &fault.Error{Code: fault.Damaged, Message: rootObject + " of the remote is damaged: " + err.Error(), Err: err}
	}
	if r.Format > record.Format {
		return nil, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the remote has format %d, and this version of bough knows %d", r.Format, record.Format),
			Hint: "a newer version of bough created it", Err: seal.ErrNewer}
	}
	token, err := key.Open(r.Token, 1<<10)
	if errors.Is(err, seal.ErrKey) {
		return nil, &fault.Error{Code: fault.Refused, Message: "the key is not that of this remote", Hint: "nothing was written", Err: err}
	}
	share := string(token) == tokenOf(r.ID, true)
	if err != nil || string(token) != tokenOf(r.ID, share) {
		return nil, &fault.Error{Code: fault.Damaged, Message: rootObject + " of the remote is damaged: its token is not that of its id", Err: err}
	}
	return &Remote{Store: store, Key: key, ID: r.ID, Share: share}, nil
}

// Create opens the remote in a store, or creates one if there is none. Errors are those of Open.
func Create(ctx context.Context, store bucket.Store, key *seal.Key) (r *Remote, created bool, err error) {
	return create(ctx, store, key, false)
}

// CreateShare is Create for a remote with Share.
func CreateShare(ctx context.Context, store bucket.Store, key *seal.Key) (r *Remote, created bool, err error) {
	return create(ctx, store, key, true)
}

func create(ctx context.Context, store bucket.Store, key *seal.Key, share bool) (r *Remote, created bool, err error) {
	r, err = Open(ctx, store, key)
	if !errors.Is(err, fault.NotFound) {
		return r, false, err
	}
	id := uuid.NewString()
	token, err := key.Seal([]byte(tokenOf(id, share)))
	if err != nil {
		return nil, false, err
	}
	data, err := json.Marshal(root{Format: record.Format, ID: id, Token: token})
	if err != nil {
		return nil, false, err
	}
	if err := store.Put(ctx, rootObject, append(data, '\n')); err != nil && !errors.Is(err, bucket.ErrExists) {
		return nil, false, err
	}
	r, err = Open(ctx, store, key) // another machine may have created it meanwhile
	return r, err == nil && r.ID == id, err
}

const (
	streams    = "m/"
	packs      = "p/"
	basePrefix = "base-"
)

func streamOf(m record.Machine) string { return streams + string(m) + "/" }

func recordName(m record.Machine, seq uint64) string { return streamOf(m) + numberName(seq) }

func baseName(m record.Machine, seq uint64) string { return streamOf(m) + basePrefix + numberName(seq) }

func numberName(seq uint64) string { return fmt.Sprintf("%08d", seq) }

// parseNumber returns the number of which name is the name, 0 if it is none.
func parseNumber(name string) uint64 {
	n, err := strconv.ParseUint(name, 10, 64)
	if err != nil || n > seal.MaxNumber || numberName(n) != name {
		return 0
	}
	return n
}

// An objectName is the name of an object of a stream, decoded.
type objectName struct {
	machine record.Machine // "" if the name is not that of an object of a stream
	seq     uint64
	base    bool
}

func parseName(name string) objectName {
	m, rest, ok := strings.Cut(strings.TrimPrefix(name, streams), "/")
	if !ok || !strings.HasPrefix(name, streams) || !seal.IsMachine(m) {
		return objectName{}
	}
	number, base := strings.CutPrefix(rest, basePrefix)
	seq := parseNumber(number)
	if seq == 0 {
		return objectName{}
	}
	return objectName{record.Machine(m), seq, base}
}

// parseListed decodes a name in a listing: of an object, or, if shallow, of a stream.
func parseListed(name string, shallow bool) (record.Machine, objectName) {
	if !shallow {
		n := parseName(name)
		return n.machine, n
	}
	m, ok := strings.CutSuffix(strings.TrimPrefix(name, streams), "/")
	if !ok || !seal.IsMachine(m) {
		return "", objectName{}
	}
	return record.Machine(m), objectName{}
}

func hashOf(stored []byte) string {
	sum := sha256.Sum256(stored)
	return hex.EncodeToString(sum[:])
}
