package join_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/record"
)

// withoutTitles returns an encoded base without titles.
func withoutTitles(data string) string {
	lines := strings.SplitAfter(data, "\n")
	for i, line := range lines {
		var entity map[string]json.RawMessage
		var registers map[string]json.RawMessage
		if json.Unmarshal([]byte(line), &entity) != nil || json.Unmarshal(entity["r"], &registers) != nil || registers["title"] == nil {
			continue
		}
		delete(registers, "title")
		without, _ := json.Marshal(registers)
		lines[i] = strings.Replace(line, string(entity["r"]), string(without), 1)
	}
	return strings.Join(lines, "")
}

// arrive is what a control does with a record that comes.
func (m *machine) arrive(r *record.Record) {
	for _, op := range r.Ops {
		switch op.Do {
		case record.Set:
			m.arrived[op.Entity+" "+op.Field] = string(op.Value)
		case record.Remove:
			m.dead[op.Entity] = true
		case record.Drop:
			if op.Entity != "bookmarks" {
				continue
			}
			for _, b := range join.Project(m.view).Bookmarks {
				if string(op.Value) == quoted(b.Label) {
					for _, s := range b.Stamps {
						m.hidden[s] = true
					}
				}
			}
		}
	}
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }
