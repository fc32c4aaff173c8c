package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/rawjson"
)

// A Config has the limits of an exploration, and the thresholds of its
// evaluation (format.md 22.8). Its JSON is an object with these members;
// durations are like "30s" or "1m30s".
type Config struct {
	Enabled       bool     `json:"enabled"`
	MaxDepth      int      `json:"max_depth"`        // of branches, from 1
	MaxConcurrent int      `json:"max_concurrent"`   // branches that run at once
	Timeout       Duration `json:"timeout"`          // for one branch
	MaxBranches   int      `json:"max_branches"`     // of an exploration, at all depths
	MaxTime       Duration `json:"max_time"`         // for an exploration
	MaxOutput     int64    `json:"max_output"`       // bytes of output per branch
	MaxTotal      int64    `json:"max_total_output"` // bytes of output of all branches

	MinConfidence float64 `json:"min_confidence"` // below this, a reply is not explored
	Prune         float64 `json:"prune"`          // below this, a branch is pruned
	Synthesize    float64 `json:"synthesize"`     // below this, a result is not part of a synthesis

	// Metrics maps names of metrics to the direction in which they are better. Other
	// metrics use the direction of a word in their name; without one they are
	// ignored.
	Metrics                 map[string]Direction `json:"metrics"`
	Prefer                  []string             `json:"prefer"` // strategies to try first, in this order
	AllowRecursiveBranching bool                 `json:"allow_recursive_branching"`
	LearnFromFailures       bool                 `json:"learn_from_failures"`
}

// Defaults returns the default Config.
func Defaults() Config {
	return Config{
		Enabled:       true,
		MaxDepth:      3,
		MaxConcurrent: 5,
		Timeout:       Duration(30 * time.Second),
		MaxBranches:   64,
		MaxTime:       Duration(10 * time.Minute),
		MaxOutput:     1 << 20,
		MaxTotal:      16 << 20,

		MinConfidence: 0.6,
		Prune:         0.3,
		Synthesize:    0.7,

		Metrics:                 map[string]Direction{},
		Prefer:                  []string{},
		AllowRecursiveBranching: true,
		LearnFromFailures:       true,
	}
}

// A Duration is a [time.Duration] that is encoded as text.
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText returns d as "1m30s".
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses a duration such as "30s", "1h30m" or "2 hours".
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := config.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// A setting is a member of a Config.
type setting struct {
	key     string
	value   any // a pointer to the field
	problem func() string
	want    string
}

func (c *Config) settings() []setting {
	atLeast := func(n *int) func() string {
		return func() string {
			if *n < 1 {
				return "it must be at least 1"
			}
			return ""
		}
	}
	atLeast64 := func(n *int64) func() string {
		return func() string {
			if *n < 1 {
				return "it must be at least 1"
			}
			return ""
		}
	}
	positive := func(d *Duration) func() string {
		return func() string {
			if *d <= 0 {
				return "it must be positive"
			}
			return ""
		}
	}
	fraction := func(f *float64) func() string {
		return func() string {
			if !unit(*f) {
				return "it must be from 0 to 1"
			}
			return ""
		}
	}
	names := func() string {
		if slices.ContainsFunc(c.Prefer, func(s string) bool { return strings.TrimSpace(s) == "" }) {
			return "it has an empty name"
		}
		return ""
	}
	directions := func() string {
		for name, d := range c.Metrics {
			if d != Higher && d != Lower && d != Ignore {
				return fmt.Sprintf("%q has %q, want higher, lower or ignore", name, d)
			}
		}
		return ""
	}
	fine := func() string { return "" }
	const whole, length, share, flag = "a whole number", `a duration as "30s"`, "a number from 0 to 1", "true or false"
	return []setting{
		{"enabled", &c.Enabled, fine, flag},
		{"max_depth", &c.MaxDepth, atLeast(&c.MaxDepth), whole},
		{"max_concurrent", &c.MaxConcurrent, atLeast(&c.MaxConcurrent), whole},
		{"timeout", &c.Timeout, positive(&c.Timeout), length},
		{"max_branches", &c.MaxBranches, atLeast(&c.MaxBranches), whole},
		{"max_time", &c.MaxTime, positive(&c.MaxTime), length},
		{"max_output", &c.MaxOutput, atLeast64(&c.MaxOutput), whole},
		{"max_total_output", &c.MaxTotal, atLeast64(&c.MaxTotal), whole},
		{"min_confidence", &c.MinConfidence, fraction(&c.MinConfidence), share},
		{"prune", &c.Prune, fraction(&c.Prune), share},
		{"synthesize", &c.Synthesize, fraction(&c.Synthesize), share},
		{"metrics", &c.Metrics, directions, "an object with higher, lower or ignore for names"},
		{"prefer", &c.Prefer, names, "a list of names"},
		{"allow_recursive_branching", &c.AllowRecursiveBranching, fine, flag},
		{"learn_from_failures", &c.LearnFromFailures, fine, flag},
	}
}

// merge returns the defaults, overridden by the settings of the workspace, then
// of the agent, then of the flags. Each is an object with some members of a
// [Config], or empty. An unknown member, null or a value out of range is an
// error that names the source and the member.
func merge(workspace, agent, flags []byte) (Config, error) {
	c := Defaults()
	for _, layer := range []struct {
		name string
		data []byte
	}{{"workspace", workspace}, {"agent", agent}, {"flags", flags}} {
		if len(layer.data) == 0 {
			continue
		}
		var err error
		if c, err = c.with(layer.data); err != nil {
			return Config{}, fmt.Errorf("explore settings of the %s: %w", layer.name, err)
		}
	}
	return c, nil
}

// with returns c with the members of an object replaced.
func (c Config) with(data []byte) (Config, error) {
	if err := rawjson.Check(data); err != nil {
		return Config{}, err
	}
	root := rawjson.Root(data)
	if data[root.Start] != '{' {
		return Config{}, errors.New("not a JSON object")
	}
	members, err := rawjson.Members(data, root)
	if err != nil {
		return Config{}, err
	}
	settings := c.settings()
	for _, m := range members {
		key := m.Key
		i := slices.IndexFunc(settings, func(s setting) bool { return s.key == key })
		if i < 0 {
			return Config{}, unknown(key, settings)
		}
		s := settings[i]
		value := m.Value.Of(data)
		switch key { // maps and slices may be shared with another Config
		case "prefer":
			c.Prefer = nil
		case "metrics":
			c.Metrics = nil
		}
		if string(value) == "null" || json.Unmarshal(value, s.value) != nil {
			return Config{}, fmt.Errorf("%s is %s, want %s", key, brief(string(value)), s.want)
		}
		if problem := s.problem(); problem != "" {
			return Config{}, fmt.Errorf("%s is %s: %s", key, brief(string(value)), problem)
		}
	}
	return c, nil
}

// unknown returns the error for an unknown member, with the most similar known
// one.
func unknown(key string, settings []setting) error {
	var keys []string
	for _, s := range settings {
		keys = append(keys, s.key)
	}
	if meant := lookup.Nearest(key, keys); meant != "" {
		return fmt.Errorf("unknown setting %q; did you mean %q?", key, meant)
	}
	return fmt.Errorf("unknown setting %q; settings: %s", key, strings.Join(keys, ", "))
}
