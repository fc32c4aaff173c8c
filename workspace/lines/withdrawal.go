package lines

import "github.com/bough-dev/bough/session"

// A Withdrawal lists what was removed of a conversation that was registered with another program.
type Withdrawal struct {
	Session session.ID   `json:"session_id"` // the first file of the line
	Format  string       `json:"format"`
	Removed []session.ID `json:"removed"` // paths of the files that were removed
	// Unlisted are paths of files that were gone, and of which only the entries were removed.
	Unlisted []session.ID `json:"unlisted"`
	// Continued are paths of files that stay, because the program continued them.
	Continued []session.ID `json:"continued"`
}
