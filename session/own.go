package session

// Members of metadata.bough of a message that the tree of a line depends on.
const (
	// OwnJoined is the id of the message that a message follows as long as its parent_id
	// names no message of the line (format.md 8.4).
	OwnJoined = "joined"
	// OwnOpen is true for the last message of an imported transcript that has no end mark
	// yet: the next import may replace it (format.md 23).
	OwnOpen = "open"
	// OwnReplacedBy is the id of the sibling that has the whole of an open message that
	// could not be replaced. Such a message is not an end of the conversation.
	OwnReplacedBy = "replaced_by"
)
