package explore

import "fmt"

// A Plan is what is to be tried of what a reply offers.
type Plan struct {
	Strategies []Adjusted `json:"strategies"` // in the order in which they are to be tried
	Confidence float64    `json:"confidence"` // that the reply offers a choice
	Reason     string     `json:"reason"`     // why nothing is to be tried, for a person; "" if something is
}

// PlanFor recognizes what a reply offers, and brings in what was learned. It is what an
// assistant's reply is given to, whether it was just said or long ago.
func PlanFor(reply string, similar []Similar, c Config) Plan {
	named, sure := Recognize(reply)
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

// List returns the strategies alone, for [Exploration.Begin].
func (p Plan) List() []Strategy {
	list := make([]Strategy, len(p.Strategies))
	for i, s := range p.Strategies {
		list[i] = s.Strategy
	}
	return list
}
