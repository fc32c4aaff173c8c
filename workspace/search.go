package workspace

import (
	"context"
	"strings"

	"github.com/bough-dev/bough/workspace/internal/searcher"
	"github.com/bough-dev/bough/workspace/search"
)

// Search searches the messages of all sessions. Matches are ordered by
// conversation, last active first as in [Workspace.List]; within one, by
// speaker: the user, the assistant, then results of tools; then newest first,
// by position in the files. A message is found once, in the conversation where
// it began; conversations with copies of it are listed in Match.Also. If o.In
// selects such a conversation, its copies are found too. Search skips
// unreadable files, with a note.
func (w *Workspace) Search(ctx context.Context, o search.Options) (*search.Result, error) {
	if o.Role != "" {
		if err := checkRole(strings.ToLower(o.Role)); err != nil {
			return nil, err
		}
	}
	return searcher.Search(ctx, w.store, o)
}
