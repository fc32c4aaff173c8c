package sentence

import (
	"cmp"

	"github.com/bough-dev/bough/workspace/restores"
)

// Conflict says what happened to a path of a conflict, and what the state has.
func Conflict(k restores.Conflict) string {
	text := "changed since"
	switch {
	case k.Why == restores.NoEnd:
		text = "changed by a turn without an end or by you"
	case k.Why == restores.ByOther:
		text = "changed by another conversation too"
	case k.Base == k.Yours, k.Base != nil && k.Yours != nil && *k.Base == *k.Yours:
		text = "changed by others too"
	case k.Yours == nil:
		text = "deleted since"
	case k.Base == nil:
		text = "added since"
	}
	if k.Theirs == nil {
		return text + "; the state does not have it"
	}
	return text + "; the state has another version"
}

// Kept says why a path stays as it is.
func Kept(why string) string {
	switch why {
	case "yours":
		return "others changed it, and the conversation did not"
	case restores.Keep, "conflict":
		return "others changed it too"
	case "ignored":
		return "it is ignored"
	case "forgotten":
		return "its content was deleted permanently"
	case "not_empty":
		return "something in it stays"
	case "blocked":
		return "a path above it stays"
	case "changed":
		return "another program changed it meanwhile"
	case "locked":
		return "another program has it open"
	case "denied":
		return "the system refused the change"
	case "damaged":
		return "the disk lost its new content"
	}
	return cmp.Or(Left(why), why)
}

// Left returns why a state does not have a path.
func Left(why string) string {
	switch why {
	case "large":
		return "too large"
	case "folder_large":
		return "a folder with too many files"
	case "secret":
		return "a secret, by its name"
	case "ignored_tracked":
		return "ignored by .boughignore"
	case "special":
		return "not a file"
	case "unsettled":
		return "changed while it was read"
	}
	return why
}
