package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/rawjson"
)

const (
	longestID   = 40 // maximum that OpenAI accepts
	longestName = 64
)

// plain replaces characters that are not allowed in names of tools and
// Anthropic's ids with "_".
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, s)
}

// id returns the id for a call: the stored one, if it is accepted and unused.
func (c *composer) id(stored string) string {
	id := stored
	if id == "" || len(id) > longestID || c.form == content.Anthropic && plain(id) != id {
		id = "call_0"
	}
	for c.ids[id] {
		c.made++
		id = fmt.Sprintf("call_%d", c.made)
	}
	c.ids[id] = true
	return id
}

// name returns the provider's name of a tool.
func (c *composer) name(own string) string {
	for name, is := range c.prompt.names {
		if is == own {
			return name
		}
	}
	if own == "" {
		own = "unknown"
	}
	s := plain(own)
	return s[:min(len(s), longestName)]
}

// tool adds a tool that the model may call.
func (c *composer) tool(t model.Tool) error {
	s := gjson.ParseBytes(t.Schema)
	if t.Name == "" {
		return errors.New("a tool has no name")
	}
	if len(t.Schema) == 0 {
		s = gjson.Parse(`{}`)
	}
	if !s.IsObject() || len(t.Schema) > 0 && !json.Valid(t.Schema) {
		return fmt.Errorf("the schema of the tool %q is not a JSON object", t.Name)
	}
	if kind := s.Get("type"); kind.Exists() && kind.String() != "object" {
		return fmt.Errorf("the schema of the tool %q is not that of an object", t.Name)
	}
	var pairs []rawjson.Pair
	if !s.Get("type").Exists() {
		pairs = append(pairs, rawjson.Pair{Key: "type", Value: []byte(`"object"`)})
	}
	s.ForEach(func(key, value gjson.Result) bool {
		if key.String() != "properties" || value.IsObject() {
			pairs = append(pairs, rawjson.Pair{Key: key.String(), Value: []byte(value.Raw)})
		}
		return true
	})
	if !s.Get("properties").IsObject() {
		pairs = append(pairs, rawjson.Pair{Key: "properties", Value: []byte(`{}`)})
	}
	name := c.name(t.Name)
	for n := 2; c.prompt.names[name] != ""; n++ {
		if c.prompt.names[name] == t.Name {
			return fmt.Errorf("duplicate tool name %q", t.Name)
		}
		end := fmt.Sprintf("_%d", n)
		name = name[:min(len(name), longestName-len(end))] + end
	}
	c.prompt.names[name] = t.Name
	c.prompt.Tools = append(c.prompt.Tools, Tool{name, t.Description, joinPairs(pairs)})
	return nil
}

// Calls returns the calls of a reply with the agent's names of tools. A call
// without an id gets one, and a call without arguments gets an empty object. It
// returns an error if the calls cannot be used.
func (p *Prompt) Calls(made []model.Call) ([]model.Call, error) {
	ids := map[string]bool{}
	for _, c := range made {
		if c.ID != "" && ids[c.ID] {
			return nil, fmt.Errorf("the model made two calls with the id %q", Line(c.ID, 100, false))
		}
		ids[c.ID] = true
	}
	var list []model.Call
	next := 0
	for _, c := range made {
		if c.Name == "" {
			return nil, errors.New("the model made a call without the name of a tool")
		}
		for n := next; c.ID == ""; n++ {
			if id := fmt.Sprintf("call_%d", n); !ids[id] {
				c.ID, next, ids[id] = id, n+1, true
			}
		}
		if own, ok := p.names[c.Name]; ok {
			c.Name = own
		}
		if blank(c.Arguments) {
			c.Arguments = "{}"
		}
		for _, s := range []*string{&c.ID, &c.Name, &c.Arguments} {
			*s = strings.ToValidUTF8(*s, "\ufffd")
		}
		list = append(list, c)
	}
	return list, nil
}
