package explore

import (
	"fmt"

	"github.com/bough-dev/bough/explore/recognize"
)

// A Plan is what is to be tried of what a reply offers.
type Plan struct {
	Strategies []Adjusted `json:"strategies"` // in the order in which they are to be tried
	Confidence float64    `json:"confidence"` // that the reply offers a choice
	Reason     string     `json:"reason"`     // why nothing is to be tried, for a person; "" if something is
}

// PlanFor decides what is to be tried of the ways that a reply names, and brings in what
// was learned. It takes what [recognize.Reply] or [RecognizeWith] returns.
func PlanFor(named []recognize.Found, sure float64, similar []Similar, c Config) Plan {
	p := Plan{Strategies: Adjust(named, similar, c), Confidence: sure}
	switch {
	case !c.Enabled:
		p.Reason = "explorations are switched off"
	case len(named) < 2:
		p.Reason = "it does not offer several ways"
	case sure < c.MinConfidence:
		p.Reason = fmt.Sprintf("that it offers several ways has the confidence %s, below %s", figure(sure), figure(c.MinConfidence))
	}
	return p
}
