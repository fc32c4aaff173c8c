package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/stream"
)

// exchanged prints what a push, a pull or a sync did: the sessions that changed on standard output,
// the rest on standard error.
func (p *program) exchanged(r *remote.Result, info remote.Info, verb string, titles map[string]string) {
	for _, id := range r.Sessions {
		fmt.Fprintln(p.stdout, strings.TrimRight(tail(id)+"  "+line(titles[id]), " "))
	}
	where := map[string]string{"push": "To ", "pull": "From ", "sync": "With "}[verb] + clean(info.URL) + ": "
	if r.DryRun {
		where = "Dry run: " + where
	}
	fmt.Fprintln(p.stderr, where+exchangeText(r, verb))
	for _, note := range exchangeNotes(r, info, titles) {
		fmt.Fprintln(p.stderr, note)
	}
}

// exchangeNotes returns what a user must know of an exchange, in lines.
func exchangeNotes(r *remote.Result, info remote.Info, titles map[string]string) (notes []string) {
	for _, c := range r.Conflicts {
		notes = append(notes, "conflict: "+conflictText(c, titles))
	}
	for _, l := range r.Left {
		notes = append(notes, fmt.Sprintf("not applied: %s: %s", clean(l.What), line(l.Why)))
	}
	for _, id := range r.Unshared {
		notes = append(notes, fmt.Sprintf("no longer shared: %s: it came from the share, and then got messages from elsewhere; 'bough remote share %s %s' sends all of it",
			strings.TrimRight(tail(id)+"  "+line(titles[id]), " "), tail(id), line(info.Name)))
	}
	for _, one := range r.Problems {
		notes = append(notes, fmt.Sprintf("not read: %s: %s", clean(one.Object), line(problemText(one))))
	}
	if len(r.Problems) > 0 {
		notes = append(notes, fmt.Sprintf("  'bough remote check %s' lists all problems", line(info.Name)))
	}
	if r.Renewed {
		notes = append(notes, "This workspace is a copy of another one that also uses the remote; it is a machine of its own now.")
	}
	return notes
}

// exchangeText says what was sent and received.
func exchangeText(r *remote.Result, verb string) string {
	var did []string
	switch {
	case r.Got.Records > 0 && r.DryRun:
		did = append(did, "would get "+count(r.Got.Records, "record"))
	case r.Got.Records > 0:
		did = append(did, fmt.Sprintf("got %s, %s", count(r.Got.Records, "record"), size(r.Got.Bytes)))
	}
	switch n := len(r.Sessions); {
	case n > 0 && r.DryRun:
		did = append(did, "would change or add "+count(n, "session"))
	case n > 0:
		did = append(did, "changed or added "+count(n, "session"))
	}
	if n := r.Got.States; n > 0 {
		did = append(did, "got "+count(n, "file state"))
	}
	if r.Sent.Records > 0 && verb != "pull" { // a pull counts what the next push sends
		text := fmt.Sprintf("sent %s, %s", count(r.Sent.Records, "record"), size(r.Sent.Bytes))
		if r.DryRun {
			text = fmt.Sprintf("would send %s", count(r.Sent.Records, "record"))
		}
		if n := r.Sent.States; n > 0 {
			text += ", with " + count(n, "file state")
		}
		did = append(did, text)
	}
	if len(did) == 0 {
		return "nothing new"
	}
	return strings.Join(did, "; ")
}

// conflictText describes a conflict and what was kept.
func conflictText(c plan.Conflict, titles map[string]string) string {
	name := fmt.Sprintf("%q", line(titles[c.Session]))
	if titles[c.Session] == "" {
		name = tail(c.Session)
	}
	kept := func(form func(string) string) string {
		words := make([]string, len(c.Kept))
		for i, k := range c.Kept {
			words[i] = form(k)
		}
		return strings.Join(words, ", ")
	}
	message := func(id string) string { return tail(c.Session) + "@" + shortMessage(clean(id)) }
	quoted := func(s string) string { return fmt.Sprintf("%q", line(s)) }
	switch c.Kind {
	case plan.Appended:
		return fmt.Sprintf("%s: several machines added messages; these are branches now: %s", name, kept(message))
	case plan.Renamed:
		return fmt.Sprintf("%s: several machines renamed it, to %s; the first one counts, 'bough log --remote' has all", tail(c.Session), kept(quoted))
	case plan.Removed:
		return fmt.Sprintf("%s: one machine removed it and another one continued it; it is kept", name)
	case plan.Undone:
		return fmt.Sprintf("%s: a message whose append was undone has replies or is referred to; it is kept: %s", name, kept(message))
	case plan.Labelled:
		return fmt.Sprintf("bookmark in %s: the label is on several messages; this one is %s now", name, kept(quoted))
	case plan.HeadMoved:
		return fmt.Sprintf("%s: several machines moved the head of an agent, to %s; the first one counts", name, kept(message))
	case plan.AgentNamed:
		if len(c.Kept) == 2 {
			return fmt.Sprintf("several agents have the name %s; one is %s now", quoted(c.Kept[0]), quoted(c.Kept[1]))
		}
	}
	return strings.TrimSuffix(fmt.Sprintf("%s in %s; kept: %s", line(c.Kind), name, kept(line)), "; kept: ")
}

// problemTexts explain why a stream is not read on.
var problemTexts = map[stream.Kind]string{
	stream.Unreadable: "the store did not return it",
	stream.Withheld:   "it is missing, although another record says that it exists",
	stream.RolledBack: "records that were here before are gone",
	stream.Swapped:    "it is not the record that follows the one before it",
	stream.Forged:     "it is not encrypted with the key of the remote, or not signed by its machine",
	stream.Malformed:  "it is not what bough writes",
	stream.Newer:      "a newer version of bough wrote it",
}

func problemText(one *stream.Problem) string {
	text := problemTexts[one.Kind]
	switch {
	case text == "":
		return one.Detail
	case one.Detail == "":
		return text
	}
	return text + " (" + one.Detail + ")"
}

// remoteHint returns the hint for an error of a remote.
func remoteHint(err error) string {
	var open *bucket.NoCreateOnlyError
	if errors.As(err, &open) {
		return "with --one-writer it can hold what one machine sends, as a backup"
	}
	return ""
}
