package sentence

// Moment returns why a state was taken.
func Moment(at string) string {
	switch at {
	case "prompt":
		return "before the answer"
	case "end":
		return "after the answer"
	case "checkpoint":
		return "at a checkpoint"
	case "restore":
		return "before a restore"
	}
	return "by files snap"
}
