package convert

import (
	"slices"

	"github.com/bough-dev/bough/internal/content"
	"github.com/tidwall/gjson"
)

// What formats have no place for. What stands there as something else has that behind a
// comma; what says nothing of it is gone.
const (
	lostTitles     = "titles"
	lostDirs       = "working folders"
	lostModels     = "models"
	lostTimes      = "times"
	lostSummaries  = "marks of summaries"
	lostNames      = "names of speakers"
	lostSystem     = "system messages, which are the user's now"
	lostSignatures = "signatures of thinking"
	lostFailures   = "marks of tools that failed"
	lostResultPics = "images in results"
	lostExtras     = "what tools gave beside text and images"
	lostMessages   = "messages of which nothing is left"
	lostLinks      = "links to messages that are not there"
)

// A report collects what was lost while a transcript is written.
type report struct {
	list  []Loss
	trace *trace // nil if the places of the messages are not needed
}

// add counts a loss.
func (l *report) add(what string) {
	for i := range l.list {
		if l.list[i].What == what {
			l.list[i].Count++
			return
		}
	}
	l.list = append(l.list, Loss{what, 1})
}

// count counts a loss if it is one.
func (l *report) count(what string, is bool) {
	if is {
		l.add(what)
	}
}

// conversation counts what is lost of what there is to say of t, but for what is carried.
func (l *report) conversation(t *Transcript, carried ...string) {
	l.count(lostTitles, t.Title != "" && !slices.Contains(carried, lostTitles))
	l.count(lostDirs, t.Dir != "" && !slices.Contains(carried, lostDirs))
}

// message counts what is lost of m beside its parts, but for what is carried.
func (l *report) message(m *Message, carried ...string) {
	for _, f := range []struct {
		what string
		is   bool
	}{
		{lostTimes, !m.Time.IsZero()},
		{lostModels, m.Model != ""},
		{lostSummaries, m.Kind != Said},
		{lostNames, m.Own.Name != ""},
		{lostSystem, m.Own.Role != ""},
	} {
		l.count(f.what, f.is && !slices.Contains(carried, f.what))
	}
}

// signature counts the signature of a thought, if it has one.
func (l *report) signature(p *content.Part) { l.count(lostSignatures, signature(p) != "") }

// extras counts what a tool gave beside the text of a result.
func (l *report) extras(p *content.Part) {
	gjson.GetBytes(p.Meta, "content").ForEach(func(_, block gjson.Result) bool {
		switch block.Get("type").Str {
		case "text":
		case "image":
			l.add(lostResultPics)
		default:
			l.add(lostExtras)
		}
		return true
	})
}

// part counts a part in whose place there is nothing now, or what [asText] returns.
func (l *report) part(p *content.Part) {
	switch p.Type {
	case content.TypeToolCall:
		l.add("tool calls, which are text now")
	case content.TypeToolResult:
		l.add("tool results, which are text now")
		l.extras(p)
	case content.TypeThinking:
		l.add("thinking, which is text now")
	case content.TypeRedacted:
		l.add("hidden thinking")
	case content.TypeData:
		l.add("data of other programs")
	case content.TypeAudio:
		l.add("audio")
	default:
		l.add(p.Type + "s")
	}
}
