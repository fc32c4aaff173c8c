package page

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/workspace"
)

// maxAbsent is how many conversations of a remote that are not here the page lists.
const maxAbsent = 200

// A remoteView is a remote as the page shows it.
type remoteView struct {
	Name, URL, Machine string
	Share, Files       bool
	Running            string // what an exchange does, "" if none is in progress
	Failed, Hint       string // of the last exchange that the page began
	Verb               string
	Time               moment // of the last exchange, no text if there was none
	Did                string
	Notes              []string
	Conflicts          []conflictView
	Machines           []machineView
	Absent             []absentView
	More               string // how many are not listed
}

type machineView struct {
	Name, About string
	Seen        moment
}

// A conflictView is a conflict with links to what was kept.
type conflictView struct {
	Title, Href, About string
	Sides              []crumb
}

// An absentView is a conversation of a remote that is not here.
type absentView struct{ ID, Title, About string }

// showRemotes shows the remotes. It makes no request to them.
func showRemotes(c *request) (view, error) {
	list, err := remote.List(c.workspace)
	if err != nil {
		return view{}, err
	}
	titles := map[string]string{}
	if len(list) > 0 {
		all, err := c.workspace.Sessions(c.r.Context(), workspace.ListOptions{SubAgents: true})
		if err != nil {
			return view{}, err
		}
		for _, s := range all.Sessions {
			titles[s.ID] = s.Title
		}
	}
	views := []remoteView{}
	for _, info := range list {
		v, err := c.remoteView(info, titles)
		if err != nil {
			return view{}, err
		}
		views = append(views, v)
	}
	return view{Template: "remotes", Title: "Remotes", Data: struct{ Remotes []remoteView }{views}}, nil
}

func (c *request) remoteView(info remote.Info, titles map[string]string) (v remoteView, err error) {
	ctx, now := c.r.Context(), c.opts.Now()
	v = remoteView{Name: info.Name, URL: info.URL, Machine: info.Label, Share: info.Share, Files: info.Files}
	x := c.exchanges.of(info.Name)
	if x.end != nil {
		v.Running = progressText(x.at)
	} else if x.failed != nil {
		v.Failed, v.Hint = x.failed.Message, x.failed.Hint
	}
	r, err := remote.Open(ctx, c.workspace, info.Name, remote.Options{}) // makes no request
	if err != nil {
		return v, err
	}
	defer r.Close()
	last, err := r.Last()
	if err != nil {
		return v, err
	}
	if last != nil {
		v.Verb, v.Time = last.Verb, ageOf(last.Time, now)
		v.last(last.Result, titles)
	}
	machines, err := r.Machines(ctx)
	if err != nil {
		return v, err
	}
	for _, m := range machines {
		one := machineView{Name: cmp.Or(m.Name, string(m.ID)), Seen: ageOf(timeOf(m.Seen), now)}
		switch {
		case m.Own:
			one.About = "this machine"
		case m.Retired:
			one.About = "retired"
		}
		v.Machines = append(v.Machines, one)
	}
	sessions, err := r.Sessions(ctx)
	if err != nil {
		return v, err
	}
	absent := 0
	for _, s := range sessions {
		if s.Here {
			continue
		}
		if absent++; absent <= maxAbsent {
			v.Absent = append(v.Absent, absentView{s.ID, clip(cmp.Or(s.Title, s.ID)), count(s.Count, "message")})
		}
	}
	if absent > maxAbsent {
		v.More = count(absent-maxAbsent, "more conversation")
	}
	return v, nil
}

// last describes the result of an exchange.
func (v *remoteView) last(r *remote.Result, titles map[string]string) {
	did := []string{}
	if r.Sent.Records > 0 && v.Verb != "pull" { // a pull counts what the next push sends
		did = append(did, fmt.Sprintf("sent %s, %s", count(r.Sent.Records, "record"), bytesText(r.Sent.Bytes)))
	}
	if r.Got.Records > 0 {
		did = append(did, fmt.Sprintf("received %s, %s", count(r.Got.Records, "record"), bytesText(r.Got.Bytes)))
	}
	if n := len(r.Sessions); n > 0 {
		did = append(did, "changed or added "+count(n, "conversation"))
	}
	v.Did = strings.Join(did, "; ")
	for _, k := range r.Conflicts {
		v.Conflicts = append(v.Conflicts, conflictOf(k, titles))
	}
	for _, l := range r.Left {
		v.Notes = append(v.Notes, "Not applied: "+clip(l.What+": "+l.Why))
	}
	for _, id := range r.Unshared {
		v.Notes = append(v.Notes, clip(cmp.Or(titles[id], id))+" is no longer shared: it came from the share, and then got messages from elsewhere. Sharing it again sends all of it.")
	}
	for _, p := range r.Problems {
		v.Notes = append(v.Notes, "Not read: "+clip(p.Error()))
	}
	if r.Renewed {
		v.Notes = append(v.Notes, "This workspace is a copy of another one that uses the remote; it is a machine of its own now.")
	}
}

// conflictOf describes a conflict.
func conflictOf(k plan.Conflict, titles map[string]string) conflictView {
	v := conflictView{Title: clip(cmp.Or(titles[k.Session], k.Session))}
	if _, here := titles[k.Session]; here {
		v.Href = sessionPath(k.Session, "")
	}
	messages := false
	switch k.Kind {
	case plan.Appended:
		v.About, messages = "several machines added messages, which are branches now", true
	case plan.Renamed:
		v.About = "several machines renamed it; the first title counts"
	case plan.Removed:
		v.About = "one machine removed it and another one continued it; it is kept"
	case plan.Undone:
		v.About, messages = "the append of a message was undone that has replies or is referred to; it is kept", true
	case plan.Labelled:
		v.About = "one label was given to several messages; the bookmarks are"
	case plan.HeadMoved:
		v.About, messages = "several machines moved the head of an agent; the first position counts", true
	case plan.AgentNamed:
		v.Title, v.About = "Agents", "several agents have one name; they are called"
	default:
		v.About = k.Kind
	}
	if k.Kind == plan.Removed {
		return v
	}
	for i, kept := range k.Kept {
		side := crumb{Title: clip(kept)}
		if messages {
			side.Title = fmt.Sprintf("side %d", i+1)
			if v.Href != "" {
				side.Href = sessionPath(k.Session, kept)
			}
		}
		v.Sides = append(v.Sides, side)
	}
	return v
}

// progressText says how far an exchange is.
func progressText(p remote.Progress) string {
	text := map[string]string{"send": "Sending", "get": "Receiving", "apply": "Adding conversations"}[p.Doing]
	amount := bytesText
	if p.Doing == "apply" {
		amount = func(n int64) string { return fmt.Sprint(n) }
	}
	switch {
	case text == "":
		return "Comparing"
	case p.Total > 0:
		return fmt.Sprintf("%s, %s of %s", text, amount(p.Done), amount(p.Total))
	case p.Done > 0:
		return text + ", " + amount(p.Done)
	}
	return text
}
