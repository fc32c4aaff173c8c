// Package report records the results of a writer: losses, and where each message is
// written.
package report

import (
	"slices"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// The kinds of data that formats cannot represent. A comma precedes the replacement;
// without one the data is lost.
const (
	LostTitles       = "titles"
	LostDirs         = "working folders"
	LostModels       = "models"
	LostTimes        = "times"
	LostSummaries    = "marks of summaries"
	LostNames        = "names of speakers"
	LostSystem       = "system messages, converted to messages of the user"
	LostSignatures   = "signatures of thinking"
	LostFailures     = "marks of tools that failed"
	LostResultImages = "images in results"
	LostExtras       = "output of tools other than text and images"
	LostMessages     = "messages without remaining content"
	LostLinks        = "links to missing messages"
)

// A Report collects the losses of writing a transcript.
type Report struct {
	Losses []transcript.Loss
	Trace  *Trace // nil if the places of the messages are not needed
}

// Add counts a loss.
func (l *Report) Add(what string) {
	for i := range l.Losses {
		if l.Losses[i].What == what {
			l.Losses[i].Count++
			return
		}
	}
	l.Losses = append(l.Losses, transcript.Loss{What: what, Count: 1})
}

// Count counts a loss if it is one.
func (l *Report) Count(what string, is bool) {
	if is {
		l.Add(what)
	}
}

// Conversation counts the properties of t that are lost, except those in carried.
func (l *Report) Conversation(t *transcript.Transcript, carried ...string) {
	l.Count(LostTitles, t.Title != "" && !slices.Contains(carried, LostTitles))
	l.Count(LostDirs, t.Dir != "" && !slices.Contains(carried, LostDirs))
}

// Message counts the properties of m beside its parts that are lost, except
// those in carried.
func (l *Report) Message(m *transcript.Message, carried ...string) {
	for _, f := range []struct {
		what string
		is   bool
	}{
		{LostTimes, !m.Time.IsZero()},
		{LostModels, m.Model != ""},
		{LostSummaries, m.Kind != transcript.Said},
		{LostNames, m.Own.Name != ""},
		{LostSystem, m.Own.Role != ""},
	} {
		l.Count(f.what, f.is && !slices.Contains(carried, f.what))
	}
}

// Signature counts the signature of a thought, if it has one.
func (l *Report) Signature(p *content.Part) { l.Count(LostSignatures, parts.Signature(p) != "") }

// Extras counts the non-text content of a result.
func (l *Report) Extras(p *content.Part) {
	gjson.GetBytes(p.Meta, "content").ForEach(func(_, block gjson.Result) bool {
		switch block.Get("type").Str {
		case "text":
		case "image":
			l.Add(LostResultImages)
		default:
			l.Add(LostExtras)
		}
		return true
	})
}

// Part counts a part that is lost, or replaced by [parts.Text].
func (l *Report) Part(p *content.Part) {
	switch p.Type {
	case content.TypeToolCall:
		l.Add("tool calls, converted to text")
	case content.TypeToolResult:
		l.Add("tool results, converted to text")
		l.Extras(p)
	case content.TypeThinking:
		l.Add("thinking, converted to text")
	case content.TypeRedacted:
		l.Add("hidden thinking")
	case content.TypeData:
		l.Add("data of other programs")
	case content.TypeAudio:
		l.Add("audio")
	default:
		l.Add(p.Type + "s")
	}
}
