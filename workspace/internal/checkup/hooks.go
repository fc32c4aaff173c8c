package checkup

import (
	"fmt"
	"time"

	"github.com/bough-dev/bough/internal/hooklog"
	"github.com/bough-dev/bough/workspace/doctor"
)

// hookAge is the maximum age of the errors of hooks that are reported, and hookLines the
// maximum number of lines of the log in the report.
const (
	hookAge   = 7 * 24 * time.Hour
	hookLines = 3
)

// hooks reports the last errors of the hooks of assistants.
func (d *checkup) hooks() error {
	list, err := hooklog.Since(d.v.Root, d.v.Store.Opts.Now().Add(-hookAge))
	if err != nil {
		d.note(doctor.FailedHook, hooklog.Path, err.Error())
		return nil
	}
	if len(list) == 0 {
		return nil
	}
	detail := "a hook failed once"
	if n := len(list); n > 1 {
		detail = fmt.Sprintf("hooks failed %d times", n)
	}
	for i, e := range list[max(0, len(list)-hookLines):] {
		sep := "; "
		if i == 0 {
			sep = ", last: "
		}
		detail += sep + e.Time.Format(time.DateTime) + " " + e.Text
	}
	d.note(doctor.FailedHook, hooklog.Path, detail)
	return nil
}
