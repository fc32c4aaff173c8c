package store

import (
	"os"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace/provenance"
)

// OriginsPath lists where sessions and agents come from that were not made here. A later line
// replaces an earlier one.
const OriginsPath = StateDir + "/origins.jsonl"

// Origins returns where sessions and agents come from.
func (v *View) Origins() provenance.List {
	if v.origins == nil {
		data, err := ReadRegular(v.Root, OriginsPath)
		v.Warn("where conversations come from cannot be read", err)
		is := provenance.Parse(data)
		v.origins = &is
	}
	return *v.origins
}

// AddOrigins adds origins to the file. The caller must hold the lock.
func AddOrigins(root *os.Root, list []provenance.Origin) error {
	if len(list) == 0 {
		return nil
	}
	data, err := ReadRegular(root, OriginsPath)
	if err != nil {
		return err
	}
	var added []byte
	if n := len(data); n > 0 && data[n-1] != '\n' {
		added = []byte("\n") // after an incomplete line
	}
	for _, o := range list {
		added = append(append(added, rawjson.Compact(o)...), '\n')
	}
	_, err = durable.Append(root, OriginsPath, added)
	return err
}
