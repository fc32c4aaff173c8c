package lookup

import (
	"testing"
)

// TestAbbreviates: a prefix that could be a whole id does not match a longer one.
func TestAbbreviates(t *testing.T) {
	const own, uuid = "session_20200525_150000_4b9ad01c", "849dde0b-1a2b-4c3d-8e4f-5a6b7c8d9e0f"
	for _, c := range []struct {
		prefix, id string
		want       bool
	}{
		{"session_2020", own, true},
		{"session_20200525", own, true},
		{"session_20200525_150000_4b9ad01", own, true},
		{"ses", own, false},
		{"4b9ad01c", own, false},
		{"ession", own, false},
		{own, own, false},
		{own, own + "-backup", false},
		{own, own + "0", false},
		{own + "-back", own + "-backup", true},
		{"849d", uuid, true},
		{"849dde0b", uuid, true},
		{"849dde0b-1a2b", uuid, true},
		{"849", uuid, false},
		{uuid, uuid + " (conflicted copy)", false},
		{"plan", "planning", true},
		{"plan", "plan-backup", false},
		{"plan", "plan (conflicted copy)", false},
		{"plan", "plan_2", false},
		{"plan-", "plan-backup", true},
		{"plan1", "plan10", false},
		{"plan1", "plan10-b", false},
		{"plan1", "plan1b", true},
		{"plan1", "plan10b", true},
		{"plän", "pläne", true},
		{"pläne", "plane", false},
		{"", "planning", false},
	} {
		if got := abbreviates(c.prefix, c.id); got != c.want {
			t.Errorf("%q abbreviates %q: %v", c.prefix, c.id, got)
		}
	}
}
