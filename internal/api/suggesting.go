package api

import (
	"context"
	"strings"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/suggest"
)

type suggestIn struct {
	optionalSession
	Limit *int `json:"limit,omitempty" jsonschema:"the maximum number of suggestions, by default 10; 0 for all"`
}

func suggestVerb() *Verb {
	return verb("suggest", Reads, "Branches worth comparing", "Lists branches that are worth comparing or merging, and explorations without an adopted result, with reasons, the most valuable first.",
		func(ctx context.Context, w *workspace.Workspace, in suggestIn) (*suggest.List, error) {
			limit, err := bestTen(in.Limit)
			if err != nil {
				return nil, err
			}
			return w.Suggest(ctx, suggest.Options{Session: in.Session, Limit: limit})
		})
}

// ReasonsText says why something is suggested.
func ReasonsText(list []suggest.Reason) string {
	var words []string
	for _, r := range list {
		messages := plural.Of(r.Count, "message")
		switch r.Code {
		case suggest.UnusedAnswer:
			words = append(words, "unused answer after "+messages)
		case suggest.Continued:
			words = append(words, "continued for "+messages+", never merged")
		case suggest.SinceMerge:
			words = append(words, "continued for "+messages+" since it was merged")
		case suggest.MainContinued:
			words = append(words, messages+" on the other path")
		case suggest.NotAdopted:
			words = append(words, "exploration with "+plural.Of(r.Count, "result")+", none adopted")
		}
	}
	return strings.Join(words, "; ")
}
