package join

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/bookmark"
)

// maxAgentName is the maximum length of the name of an agent.
const maxAgentName = 63

// machines returns the machines with a record. Of two with one name, the later one gets a part of
// its id after it.
func (s *State) machines() []Machine {
	type named struct {
		Machine
		at record.Stamp
	}
	var list []named
	for m, st := range s.streams {
		one := named{Machine: Machine{ID: m, Records: st.Seq, Seen: st.Seen, Retired: s.Retired(m)}}
		one.at = record.Stamp{Machine: m, Seq: 1}
		if e := s.entity("machine/" + string(m)); e != nil {
			if r, ok := e.Registers["name"]; ok {
				one.Label, one.at = text(r.Value), r.Stamp
			}
			one.Person, one.Head = e.person("person"), e.head()
		}
		if one.Label == "" {
			one.Label = string(m[:min(8, len(m))])
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b named) int { return a.at.Compare(b.at) })
	names := make([]wanted, len(list))
	for i, one := range list {
		names[i] = wanted{one.Label, string(one.ID[:min(8, len(one.ID))])}
	}
	machines := make([]Machine, len(list))
	for i, name := range distinct(names, 0) {
		machines[i] = list[i].Machine
		machines[i].Name = name
	}
	return machines
}

// bookmarks returns the bookmarks. One that several machines set on one message is one bookmark;
// a label on several messages is shown with the machine that set it.
func (s *State) bookmarks(machines []Machine) []Bookmark {
	e := s.entity("bookmarks")
	if e == nil {
		return nil
	}
	type place struct{ label, session, message string }
	at := map[place]int{}
	messages := map[string]int{} // with a label
	var list []Bookmark
	for _, el := range e.Sets["all"] {
		var b bookmark.Bookmark
		if el.Value == nil || json.Unmarshal(el.Value, &b) != nil || b.Label == "" || b.Message == "" || b.Session == "" {
			continue
		}
		p := place{b.Label, b.Session, b.Message}
		if i, ok := at[p]; ok {
			list[i].Stamps = append(list[i].Stamps, el.Stamp)
			continue
		}
		at[p] = len(list)
		messages[b.Label]++
		list = append(list, Bookmark{b, b.Label, el.Stamp.Machine, []record.Stamp{el.Stamp}})
	}
	names := make([]wanted, len(list))
	for i, b := range list {
		names[i].name = b.Label
		if messages[b.Label] > 1 {
			names[i].name = b.Label + "@" + machineName(machines, b.Machine)
		}
	}
	for i, name := range distinct(names, 0) {
		list[i].Name = name
	}
	return list
}

// agents returns the agents that are alive. Of two with one name, the one that got it later is
// called NAME-MACHINE.
func (s *State) agents(machines []Machine) []Agent {
	type named struct {
		Agent
		at record.Stamp
	}
	var list []named
	for key, e := range s.alive("agent/") {
		name, ok := e.Registers["name"]
		if !ok || text(name.Value) == "" {
			continue
		}
		list = append(list, named{Agent{
			Key:      key,
			Label:    text(name.Value),
			Machine:  name.Stamp.Machine,
			Owner:    e.person("owner"),
			Settings: e.Registers["settings"].Value,
			Trees:    e.Sets["trees"],
			Head:     e.head(),
		}, name.Stamp})
	}
	slices.SortFunc(list, func(a, b named) int { return a.at.Compare(b.at) })
	names := make([]wanted, len(list))
	for i, a := range list {
		names[i] = wanted{a.Label, asAgentName(machineName(machines, a.Machine))}
	}
	agents := make([]Agent, len(list))
	for i, name := range distinct(names, maxAgentName) {
		agents[i] = list[i].Agent
		agents[i].Name = name
	}
	return agents
}

// machineName returns the name of a machine.
func machineName(machines []Machine, m record.Machine) string {
	for _, one := range machines {
		if one.ID == m {
			return one.Name
		}
	}
	return string(m)
}

// asAgentName returns s with only what the name of an agent may have.
func asAgentName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(s))
}

// A wanted is a name that something should have, and what to add to it where another one has it.
type wanted struct{ name, suffix string }

// distinct returns a name for each of list, all different. The first one that wants a name has it;
// the others get their suffix after it, and a number where that is not enough. If most is not 0, a
// name that gets an end is shortened to that many bytes.
func distinct(list []wanted, most int) []string {
	names, taken := make([]string, len(list)), map[string]bool{}
	for i, w := range list {
		if !taken[w.name] {
			names[i], taken[w.name] = w.name, true
		}
	}
	for i, w := range list {
		for n := 1; names[i] == ""; n++ {
			var end string
			if w.suffix != "" {
				end = "-" + w.suffix
			}
			if n > 1 {
				end += fmt.Sprint("-", n)
			}
			if name := shortened(w.name, most-len(end)) + end; !taken[name] {
				names[i], taken[name] = name, true
			}
		}
	}
	return names
}

// shortened returns the first n bytes of name, all of it if n is not positive.
func shortened(name string, n int) string {
	if n > 0 && len(name) > n {
		return strings.ToValidUTF8(name[:n], "")
	}
	return name
}
