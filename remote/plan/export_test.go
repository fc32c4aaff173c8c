package plan

// SmallQuota returns a quota with other limits.
func SmallQuota(bytes, items int) *Quota { return &Quota{bytes, items} }
