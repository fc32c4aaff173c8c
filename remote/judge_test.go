package remote_test

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
)

// settle has all computers exchange until nothing is new, and compares and judges what they have.
func (w *world) settle() {
	w.calm()
	w.judge()
}

// calm has all computers exchange, without faults, until nothing is new.
func (w *world) calm() {
	if err := w.net.Settle(); err != nil {
		w.fail("%v", err)
	}
	quiet := false
	for round := 0; !quiet; round++ {
		if round > 12 {
			w.fail("they exchange for ever")
		}
		quiet = true
		for _, c := range w.list {
			w.restart(c)
			r := must(remote.Open(w.t.Context(), c.w, "home", c.opts))
			r.SetBaseEvery(w.baseEvery)
			result, err := r.Sync(w.t.Context(), remote.PullOptions{Files: w.files})
			r.Close()
			w.note(c, "settles: %s", said(result, err))
			if err != nil {
				for _, o := range must(w.net.Client().List(w.t.Context(), bucket.ListOptions{Prefix: "m/"})) {
					w.note(c, "the store has %s", o.Name)
				}
				w.fail("%v", err)
			}
			if w.after != nil {
				w.after(c)
			}
			if result.Got.Records+result.Sent.Records > 0 || len(result.Sessions) > 0 {
				quiet = false
			}
		}
	}
}

// judge compares what users did with what computers have.
func (w *world) judge() {
	first := w.list[0].answers()
	for _, c := range w.list {
		if got := c.answers(); got != first {
			w.fail("%s and %s differ:\n%s", w.list[0].name, c.name, difference(first, got))
		}
		report, err := c.w.Doctor(w.t.Context(), doctor.Options{})
		if err != nil || !report.OK {
			w.fail("the doctor finds in %s: %v %+v", c.name, err, report)
		}
	}
	for _, c := range w.list {
		for name, content := range w.attached {
			if got, err := c.w.Mirror().Attachment(w.t.Context(), name); err != nil || string(got) != content {
				w.fail("the attachment %s of %s has %d bytes: %v", name, c.name, len(got), err)
			}
		}
	}
	c := w.list[0]
	have := w.textsIn(c)
	for text, id := range w.texts {
		if !have[text] && !w.gone[text] {
			w.fail("%q in %s is lost", text, id)
		}
	}
	f := must(c.w.Mirror().Facts(w.t.Context(), mirror.Known{}))
	for _, s := range f.Sessions {
		if titles, known := w.titles[s.ID]; known && !slices.Contains(titles, s.Title) {
			w.fail("%s is called %q, and users called it %q", s.ID, s.Title, titles)
		}
	}
	w.judgeOrigins(c, f)
	for key, id := range w.labels {
		message, label, _ := strings.Cut(key, " ")
		there := slices.ContainsFunc(f.Sessions, func(s mirror.Session) bool { return s.ID == id })
		if there { // a user may have removed the message, with its session, before anybody had it
			there = slices.ContainsFunc(must(c.w.Mirror().Messages(w.t.Context(), id)), func(m mirror.Message) bool { return m.ID == message })
		}
		has := slices.ContainsFunc(f.Bookmarks, func(b markOf) bool {
			is, _, _ := strings.Cut(b.Label, "@")
			return b.Message == message && is == label
		})
		if there && !has && !w.moved(label) {
			w.fail("the bookmark %q of %s is lost", label, message)
		}
	}
}

// judgeOrigins compares who made what, and the projects, with what users did.
func (w *world) judgeOrigins(c *computer, f *mirror.Facts) {
	r := c.remote()
	defer r.Close()
	placed := func(id string) (folder string, known bool) { // a branch is where its conversation is
		for seen := map[string]bool{}; id != "" && !seen[id]; {
			if folder, known = w.places[id]; known {
				break
			}
			seen[id] = true
			i := slices.IndexFunc(f.Sessions, func(s mirror.Session) bool { return s.ID == id })
			if i < 0 {
				break
			}
			v := gjson.GetManyBytes(f.Sessions[i].Shell, "metadata.branched_from", "metadata.continued_from.0")
			id = cmp.Or(v[0].Str, v[1].Str)
		}
		return folder, known
	}
	for _, s := range must(r.Sessions(w.t.Context())) {
		if by, known := w.owners[s.ID]; known && w.kin[s.Owner] != w.kin[by] {
			w.fail("%s was made by %q, and is of %q", s.ID, by, s.Owner)
		}
		if folder, known := placed(s.ID); s.Project != nil && (!known || s.Project.String() != "project-"+folder+"/sub") {
			w.fail("%s is in the folder %q, and has the project %s", s.ID, folder, s.Project)
		}
	}
	for _, a := range f.Agents {
		id := gjson.GetBytes(a.Settings, "id").Str
		if by, made := w.owners[id]; made && (a.Origin == nil && w.kin[by] != w.kin[c.name] || a.Origin != nil && w.kin[a.Origin.Owner] != w.kin[by]) {
			w.fail("%s was made by %q, and came from %+v", a.Name, by, a.Origin)
		}
	}
	for _, s := range f.Sessions {
		by, known := w.owners[s.ID]
		switch {
		case !known:
		case s.Origin == nil && w.kin[by] != w.kin[c.name], s.Origin != nil && w.kin[s.Origin.Owner] != w.kin[by]:
			w.fail("%s was made by %q, and came from %+v", s.ID, by, s.Origin)
		}
	}
}

// moved reports whether a label was set several times: a user may have moved it.
func (w *world) moved(label string) bool {
	n := 0
	for key := range w.labels {
		if _, l, _ := strings.Cut(key, " "); l == label {
			n++
		}
	}
	return n > 1
}
