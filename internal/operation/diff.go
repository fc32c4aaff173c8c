package operation

import (
	"fmt"
	"iter"
	"strings"

	"github.com/bough-dev/bough/internal/crc32c"
)

// The limits of differences.
const (
	minDiff   = 1 << 10 // a smaller file is logged completely
	maxDiffs  = 32      // maximum number of differences after a complete file
	maxResync = 64      // maximum number of lines to compare until two files agree again
)

// Diff replaces the texts in c, a change of a small file from before to after, by
// their difference if that is shorter. Once in a while the complete text stays in
// the log. newest are the operations before c, newest first.
func (c *Change) Diff(before, after string, newest iter.Seq[*Operation]) {
	if len(before) < minDiff || len(after) < minDiff {
		return
	}
	splices := differences(before, after)
	size := 0
	for _, s := range splices {
		size += len(s.Old) + len(s.Text) + len(`{"at":1000,"old":"","new":1000,"text":""}`)
	}
	if got, ok := apply(before, splices); !ok || got != after || size > len(after)/2 {
		return
	}
	c.Differs, c.Splices, c.Before, c.After = true, splices, "", after
	if n, ok := chain(newest, c.File, c.Was); ok && n < maxDiffs {
		c.After = ""
	}
}

// chain returns the number of differences of a file since it was last logged
// completely. ok is false if the newest of them does not lead to the state is, or
// too many lines are between them.
func chain(newest iter.Seq[*Operation], file string, is *State) (n int, ok bool) {
	lines := 0
	for o := range newest {
		if lines++; lines > 4*maxDiffs {
			return 0, false
		}
		for i := len(o.Changes) - 1; i >= 0; i-- {
			c := &o.Changes[i]
			switch {
			case c.File != file:
				continue
			case !c.Is.Same(is) || c.Is == nil:
				return 0, false
			case c.After != "":
				return n, true
			case !c.Differs:
				return 0, false
			}
			n, is = n+1, c.Was
		}
	}
	return 0, false
}

// differences returns the line-based edits from before to after.
func differences(before, after string) (list []Splice) {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	at := 0
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			at += len(a[i])
			i, j = i+1, j+1
			continue
		}
		n, m := resync(a[i:], b[j:])
		s := Splice{At: at, Old: strings.Join(a[i:i+n], ""), Text: strings.Join(b[j:j+m], "")}
		s.New = len(s.Text)
		list = append(list, s)
		at += len(s.Old)
		i, j = i+n, j+m
	}
	return list
}

// resync returns the number of lines to skip in both so that they agree again, all
// lines if they do not soon.
func resync(a, b []string) (n, m int) {
	agree := func(n, m int) bool {
		for k := range 2 {
			if n+k >= len(a) || m+k >= len(b) {
				return k > 0 && n+k == len(a) && m+k == len(b)
			}
			if a[n+k] != b[m+k] {
				return false
			}
		}
		return true
	}
	for sum := 1; sum <= maxResync; sum++ {
		for n := range sum + 1 {
			if agree(n, sum-n) {
				return n, sum - n
			}
		}
	}
	return len(a), len(b)
}

// apply applies the edits to text. ok is false if they do not fit.
func apply(text string, list []Splice) (string, bool) {
	var b strings.Builder
	at := 0
	for _, s := range list {
		if s.At < at || s.At > len(text) || !strings.HasPrefix(text[s.At:], s.Old) {
			return "", false
		}
		b.WriteString(text[at:s.At])
		b.WriteString(s.Text)
		at = s.At + len(s.Old)
	}
	b.WriteString(text[at:])
	return b.String(), true
}

// revert returns the text before apply.
func revert(text string, list []Splice) (string, bool) {
	back := make([]Splice, len(list))
	shift := 0
	for i, s := range list {
		back[i] = Splice{At: s.At + shift, Old: s.Text, Text: s.Old}
		shift += len(s.Text) - len(s.Old)
	}
	return apply(text, back)
}

// holds reports whether text has the state s.
func (s *State) holds(text string) bool {
	return s != nil && s.Size == int64(len(text)) && (s.CRC32C == "" || s.CRC32C == fmt.Sprintf("%08x", crc32c.Of([]byte(text))))
}

// A Filler restores the texts of changes that were stored as differences. It must
// be given the operations oldest first. The zero Filler is ready to use.
type Filler struct {
	files map[string]string // their last known text
}

// Fill returns o with Before and After in all changes of small files as far as they
// are known, or o itself if nothing is missing. ok is false if some are unknown.
func (f *Filler) Fill(o *Operation) (full *Operation, ok bool) {
	full, ok = o, true
	for i := range o.Changes {
		c := o.Changes[i]
		if c.Differs {
			known := f.fill(&c)
			if ok = ok && known; known {
				if full == o {
					short := *o
					short.Changes = append([]Change(nil), o.Changes...)
					full = &short
				}
				full.Changes[i] = c
			}
		}
		switch {
		case c.After != "":
			if f.files == nil {
				f.files = map[string]string{}
			}
			f.files[c.File] = c.After
		default:
			delete(f.files, c.File)
		}
	}
	return full, ok
}

func (f *Filler) fill(c *Change) (ok bool) {
	if c.After == "" {
		if c.After, ok = apply(f.files[c.File], c.Splices); !ok {
			return false
		}
	}
	c.Before, ok = revert(c.After, c.Splices)
	return ok && c.Is.holds(c.After) && c.Was.holds(c.Before)
}

// Full returns o as [Filler.Fill] does. newest are the operations of its log,
// newest first.
func Full(newest iter.Seq[*Operation], o *Operation) (*Operation, bool) {
	missing := map[string]bool{}
	for _, c := range o.Changes {
		if c.Differs && c.After == "" {
			missing[c.File] = true
		}
	}
	var before []*Operation
	if len(missing) > 0 {
		for older := range newest {
			if older.Seq >= o.Seq {
				continue
			}
			concerns := false
			for _, c := range older.Changes {
				if missing[c.File] {
					if concerns = true; !c.Differs || c.After != "" {
						delete(missing, c.File)
					}
				}
			}
			if concerns {
				before = append(before, older)
			}
			if len(missing) == 0 {
				break
			}
		}
	}
	var f Filler
	for i := len(before) - 1; i >= 0; i-- {
		f.Fill(before[i])
	}
	return f.Fill(o)
}

// A Keeper rewrites operations, which it must be given oldest first, so that the
// texts of small files can be restored from the rewritten log.
type Keeper struct {
	filler Filler
	stored map[string]string // texts of files that a reader of the new log knows
}

// Full returns o as [Filler.Fill] does.
func (k *Keeper) Full(o *Operation) *Operation {
	full, _ := k.filler.Fill(o)
	return full
}

// Drop records that the changes of o are not in the new log.
func (k *Keeper) Drop(o *Operation) {
	for _, c := range o.Changes {
		delete(k.stored, c.File)
	}
}

// Keep returns the operation o for the new log. full is the result of [Keeper.Full]
// for o; want is full, or a copy of it with other arguments and texts.
func (k *Keeper) Keep(o, full, want *Operation) *Operation {
	kept, edited := *want, want != full
	kept.Changes = append([]Change(nil), o.Changes...)
	if k.stored == nil {
		k.stored = map[string]string{}
	}
	for i := range kept.Changes {
		c, was, is := &kept.Changes[i], &full.Changes[i], &want.Changes[i]
		same := is.Before == was.Before && is.After == was.After && len(is.Splices) == len(was.Splices)
		switch {
		case !c.Differs || is.After == "":
			if !same {
				*c = *is
				c.Differs = false
			}
			if delete(k.stored, c.File); c.After != "" {
				k.stored[c.File] = c.After
			}
			continue
		case !same:
			c.Was, c.Is, c.Splices = is.Was, is.Is, differences(is.Before, is.After)
		}
		before, known := k.stored[c.File]
		if whole := c.After != "" || !known || before != is.Before; whole {
			edited = edited || c.After != is.After
			c.After = is.After
		}
		k.stored[c.File] = is.After
	}
	if !edited {
		return o
	}
	return &kept
}
