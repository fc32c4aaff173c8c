package session

// Members of metadata.bough of a message that an outline has.
const (
	// OwnJoined is the id of the parent to use if parent_id names no message of the
	// line (format.md 8.4).
	OwnJoined = "joined"
	// OwnMerged is an object of a message that merged a branch (format.md 21.10).
	OwnMerged = "merged"
	// OwnOpen is true for the last message of an imported transcript without an end
	// mark: the next import may replace it (format.md 23).
	OwnOpen = "open"
	// OwnReplacedBy is the id of the sibling that has the complete content of an
	// open message that could not be replaced. Such a message is not a tip.
	OwnReplacedBy = "replaced_by"
)
