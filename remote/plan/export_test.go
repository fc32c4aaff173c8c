package plan

// QuotaLeft returns a quota with so much left.
func QuotaLeft(bytes, items int) *Quota { return &Quota{maxBytes - bytes, maxItems - items} }

// InNameOrder is inNameOrder.
var InNameOrder = inNameOrder
