package checkup

import (
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// explorations checks that the files of explorations can be read.
func (d *checkup) explorations() error {
	ids, err := d.v.Store.Explorations(d.v.Ctx)
	if err != nil {
		d.found(doctor.DamagedExploration, store.ExplorationsDir, err.Error(), false)
		return nil
	}
	look := func(name, id string) {
		data, err := durable.ReadFile(d.v.Root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			d.found(doctor.DamagedExploration, name, err.Error(), false)
		case !json.Valid(data) || !gjson.ParseBytes(data).IsObject():
			d.found(doctor.DamagedExploration, name, "not a JSON object", false)
		case id != "" && gjson.GetBytes(data, "id").Str != id:
			d.found(doctor.DamagedExploration, name, "it has another id than its name", false)
		}
	}
	for _, id := range ids {
		look(store.ExplorationsDir+"/"+id+".json", id)
	}
	look(store.ExplorationSettings, "")
	return d.v.Ctx.Err()
}
