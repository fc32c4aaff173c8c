package tree

import "github.com/bough-dev/bough/convert/transcript"

// Linked returns a transcript in which a message that is joined to another follows it:
// [transcript.Message.Parent] is the one of [transcript.Message.Joined] where it names no message.
func Linked(t *transcript.Transcript) *transcript.Transcript {
	all := make(map[string]bool, len(t.Messages))
	for _, m := range t.Messages {
		all[m.ID] = true
	}
	earlier := make(map[string]bool, len(t.Messages))
	var list []*transcript.Message
	for i, m := range t.Messages {
		if m.Joined != "" && !all[m.Parent] && earlier[m.Joined] {
			if list == nil {
				list = append(list, t.Messages[:i]...)
			}
			joined := *m
			joined.Parent = m.Joined
			m = &joined
		}
		earlier[m.ID] = true
		if list != nil {
			list = append(list, m)
		}
	}
	if list == nil {
		return t
	}
	linked := *t
	linked.Messages = list
	return &linked
}
