package checkpoint

// A Packing is which new checkpoints are packed: stored as a recipe, with their messages
// compressed in a file that the checkpoints of a line share. Programs other than bough do
// not see packed checkpoints.
type Packing string

const (
	PackAuto Packing = "auto" // automatic checkpoints with at least 128 KiB of messages
	PackAll  Packing = "all"  // all checkpoints
	PackNone Packing = "none" // none
)
