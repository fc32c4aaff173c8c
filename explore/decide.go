package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/explore/recognize"
	"github.com/bough-dev/bough/internal/likeness"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/workspace"
)

// A choice is what a recent reply offers.
type choice struct {
	back   int // how many replies before the newest one
	offers []recognize.Offer
	sure   float64
}

// decide decides whether the plan of a reply explores: by the reply itself, else by one of the
// replies before it, and by what was learned.
func (x *Explorer) decide(ctx context.Context, p *Plan, start *workspace.StartPoint, recent int) error {
	if !p.Config.Enabled {
		return nil
	}
	since := []string{start.Message} // the replies since the choice was offered
	if !p.Explores {
		c, err := x.earlier(ctx, p, start, recent)
		if c == nil || err != nil {
			return err
		}
		spoken := c.spoken(start)
		if len(spoken) == 0 {
			return nil // of something else
		}
		p.Strategies, p.Confidence = rank(c.offers, p.similar, p.Config), &c.sure
		if len(spoken) == 1 {
			p.Reason = fmt.Sprintf("of the choice of an earlier reply, %s was chosen", spoken[0])
			return nil
		}
		p.Explores, p.Reason = true, fmt.Sprintf("an earlier reply (%d before) offers %s, and the choice is open", c.back, names(p.Strategies))
		for _, m := range start.Earlier[:c.back] {
			since = append(since, m.ID)
		}
	} else {
		p.Reason = "the reply offers " + names(p.Strategies)
	}
	explored, err := x.wasExplored(ctx, since)
	if err != nil {
		return err
	}
	if explored {
		p.Explores, p.Reason = false, "it was explored before"
		return nil
	}
	p.learned()
	return nil
}

// earlier returns the newest choice of the replies before the newest one, nil if there is none.
func (x *Explorer) earlier(ctx context.Context, p *Plan, start *workspace.StartPoint, recent int) (*choice, error) {
	for i, m := range start.Earlier[:min(recent, len(start.Earlier))] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		offers, sure := recognize.Reply(m.Text())
		if len(offers) >= 2 && sure >= p.Config.MinConfidence {
			return &choice{back: i + 1, offers: offers, sure: sure}, nil
		}
	}
	return nil, nil
}

// spoken returns the strategies of an earlier choice that the last question and the reply to it
// name. The choice is open if there are at least two.
func (c *choice) spoken(start *workspace.StartPoint) (list []string) {
	said := " " + likeness.Normal(start.Question+"\n"+start.Reply) + " "
	for _, o := range c.offers {
		if strings.Contains(said, " "+likeness.Normal(o.Name)+" ") {
			list = append(list, o.Name)
		}
	}
	return list
}

// wasExplored reports whether there is an exploration at one of some messages.
func (x *Explorer) wasExplored(ctx context.Context, messages []string) (bool, error) {
	list, err := x.List(ctx)
	return slices.ContainsFunc(list, func(e *Exploration) bool { return slices.Contains(messages, e.Node) }), err
}

// learned takes what was learned from similar questions into account: a strategy that failed
// twice or more and never succeeded is not tried, and if one succeeded at least three times and no
// other has been tried with success, there is nothing to find out.
func (p *Plan) learned() {
	var left []RankedStrategy
	proven, others := "", false
	for _, s := range p.Strategies {
		good, bad := 0, 0
		for _, l := range p.similar {
			if likeness.SameName(l.Strategy, s.Name) {
				if l.Success {
					good++
				} else {
					bad++
				}
			}
		}
		if good == 0 && bad >= 2 && p.Config.LearnFromFailures {
			continue
		}
		if good >= 3 && bad == 0 && proven == "" {
			proven = s.Name
		} else if good > 0 {
			others = true
		}
		left = append(left, s)
	}
	switch {
	case proven != "" && !others:
		p.Explores, p.Reason = false, proven+" succeeded each time for similar questions"
	case len(left) < 2:
		p.Explores, p.Reason = false, "the other strategies failed each time for similar questions"
	case len(left) < len(p.Strategies):
		p.Reason += fmt.Sprintf("; %s failed each time for similar questions", plural.Of(len(p.Strategies)-len(left), "other strategy"))
		p.Strategies = left
	}
}

func names(list []RankedStrategy) string {
	var words []string
	for _, s := range list {
		words = append(words, s.Name)
	}
	return strings.Join(words, ", ")
}
