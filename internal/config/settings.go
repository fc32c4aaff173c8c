package config

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/when"
)

// A Setting is a setting of bough.
type Setting struct {
	Key      string // its path in the file
	Kind     Kind
	Default  string // JSON, "" for none
	UserOnly bool   // only the user's file can set it
	Doc      string // description on one line
}

// A Kind is the type of a setting's values.
type Kind string

const (
	Text     Kind = "text"
	Texts    Kind = "list"     // of strings
	Number   Kind = "number"   // a whole number, at least 1
	Limit    Kind = "limit"    // a whole number, at least 1, or -1 for none
	Fraction Kind = "fraction" // from 0 to 1
	Duration Kind = "duration" // as "30s", "1h30m" or "7d"
	Flag     Kind = "flag"     // true or false
	Map      Kind = "map"      // of strings, by name
	Prices   Kind = "prices"   // of models, by name; see [ParsePrice]
	Packing  Kind = "packing"  // auto, all or none
)

// Settings returns all settings, in the order in which they are listed.
func Settings() []Setting {
	return []Setting{
		{"pager", Text, ``, true, "the pager for long output, overridden by $BOUGH_PAGER; if empty, $PAGER, else less; \"cat\" for none"},
		{"trust", Texts, `[]`, true, "workspace folders of other users that bough may open when it finds one above the current folder"},
		{"user.name", Text, ``, true, "your name, for others in a remote; if empty, that of git, else your login"},
		{"wait", Duration, `"30s"`, false, "how long to wait for another process that writes"},
		{"import.skip", Texts, `[]`, false, "patterns of files and folders whose conversations are not imported"},
		{"hook.files", Flag, `false`, false, "whether the hooks of assistants take states of the project folder"},
		{"mcp.commands", Map, `{}`, false, "commands that the MCP server may run, by name; each must be set at a terminal"},
		{"pack", Packing, `"auto"`, false, "which new checkpoints are packed: \"auto\" is automatic ones from 128 KiB on; \"all\"; or \"none\""},
		{"retention.keep_all", Duration, `"24h"`, false, "keep all automatic checkpoints up to this age"},
		{"retention.every", Number, `10`, false, "keep one of this many older automatic checkpoints"},
		{"retention.max_age", Duration, `"720h"`, false, "remove automatic checkpoints above this age; \"forever\" keeps them"},
		{"retention.limit", Limit, `1000`, false, "maximum number of automatic checkpoints; -1 for no limit"},
		{"files.limit", Limit, `2147483648`, false, "maximum size of the states of folders in bytes; -1 for no limit"},
		{"agents.max_calls", Number, `128`, false, "maximum number of tool calls in a reply; more fail the turn"},
		{"models.prices", Prices, `{}`, false, "what a million tokens cost, by model, read and written: openai:gpt-5=1.25/10"},
		{"explore.enabled", Flag, `true`, false, "whether strategies may be explored"},
		{"explore.max_depth", Number, `3`, false, "maximum depth of branches"},
		{"explore.max_concurrent", Number, `5`, false, "maximum number of branches that run at once"},
		{"explore.timeout", Duration, `"30s"`, false, "time limit of a branch"},
		{"explore.max_branches", Number, `64`, false, "maximum number of branches of an exploration"},
		{"explore.max_time", Duration, `"10m0s"`, false, "time limit of an exploration"},
		{"explore.max_output", Number, `1048576`, false, "maximum output of a branch in bytes"},
		{"explore.max_total_output", Number, `16777216`, false, "maximum output of all branches in bytes"},
		{"explore.min_confidence", Fraction, `0.6`, false, "do not explore a reply with a lower confidence"},
		{"explore.prune", Fraction, `0.3`, false, "prune branches with a lower confidence"},
		{"explore.synthesize", Fraction, `0.7`, false, "use results with at least this confidence in a synthesis"},
		{"explore.metrics", Map, `{}`, false, "for each metric, by name: \"higher\", \"lower\" or \"ignore\""},
		{"explore.prefer", Texts, `[]`, false, "strategies to try first, in this order"},
		{"explore.allow_recursive_branching", Flag, `true`, false, "whether branches may propose branches"},
		{"explore.learn_from_failures", Flag, `true`, false, "whether earlier failures lower the rank of a strategy"},
	}
}

// Find returns the setting with that name.
func Find(key string) (Setting, bool) {
	all := Settings()
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return all[i], true
}

// isGroup reports whether key is a member that contains settings.
func isGroup(key string) bool {
	return slices.ContainsFunc(Settings(), func(s Setting) bool { return strings.HasPrefix(s.Key, key+".") })
}

// Check returns an error if a JSON value is not valid for the setting.
func (s Setting) Check(value []byte) error {
	wrong := func(want string) error { return fmt.Errorf("%s is %s, want %s", s.Key, value, want) }
	var err error
	switch s.Kind {
	case Text:
		var v string
		if err = json.Unmarshal(value, &v); err != nil {
			return wrong("a text")
		}
	case Packing:
		var v string
		if err = json.Unmarshal(value, &v); err != nil || !slices.Contains([]string{"auto", "all", "none"}, v) {
			return wrong(`"auto", "all" or "none"`)
		}
	case Texts:
		var v []string
		if err = json.Unmarshal(value, &v); err != nil || v == nil || slices.Contains(v, "") {
			return wrong("a list of texts")
		}
	case Map:
		var v map[string]string
		if err = json.Unmarshal(value, &v); err != nil || v == nil {
			return wrong("an object of texts")
		}
	case Prices:
		var v map[string]string
		if err = json.Unmarshal(value, &v); err != nil || v == nil {
			return wrong("an object of texts")
		}
		for _, text := range v {
			if _, _, err := ParsePrice(text); err != nil {
				return fmt.Errorf("%s: %w", s.Key, err)
			}
		}
	case Number:
		var v int64
		if err = json.Unmarshal(value, &v); err != nil || v < 1 {
			return wrong("a whole number from 1 on")
		}
	case Limit:
		var v int64
		if err = json.Unmarshal(value, &v); err != nil || v < 1 && v != -1 {
			return wrong("a whole number from 1 on, or -1")
		}
	case Fraction:
		var v float64
		if err = json.Unmarshal(value, &v); err != nil || !(v >= 0 && v <= 1) {
			return wrong("a number from 0 to 1")
		}
	case Duration:
		var v Time
		if err = json.Unmarshal(value, &v); err != nil {
			return wrong(`a duration such as "30s", "1h30m" or "7d"`)
		}
	case Flag:
		var v bool
		if err = json.Unmarshal(value, &v); err != nil {
			return wrong("true or false")
		}
	}
	return nil
}

// Parse converts words of a command line to the JSON value of the setting. Only
// a list, or a map with words NAME=TEXT, can have several words.
func (s Setting) Parse(words []string) ([]byte, error) {
	var value []byte
	switch s.Kind {
	case Texts:
		value, _ = json.Marshal(words)
	case Map, Prices:
		pairs := map[string]string{}
		for _, w := range words {
			name, text, _ := strings.Cut(w, "=")
			pairs[name] = text
		}
		value, _ = json.Marshal(pairs)
	case Text, Duration:
		value, _ = json.Marshal(strings.Join(words, " "))
	default:
		value = []byte(strings.Join(words, " "))
		if !json.Valid(value) {
			value, _ = json.Marshal(string(value))
		}
	}
	return value, s.Check(value)
}

// ParsePrice parses the price of a million tokens that a model reads and of a million that it
// writes, as "1.25/10".
func ParsePrice(text string) (input, output float64, err error) {
	in, out, ok := strings.Cut(text, "/")
	input, first := strconv.ParseFloat(strings.TrimSpace(in), 64)
	output, second := strconv.ParseFloat(strings.TrimSpace(out), 64)
	if !ok || first != nil || second != nil || !(input >= 0 && output >= 0) || math.IsInf(input+output, 0) {
		return 0, 0, fmt.Errorf("%q is not a price, want two numbers such as 1.25/10", text)
	}
	return input, output, nil
}

// A Time is a duration that is a string in JSON; see [ParseDuration].
type Time time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (t *Time) UnmarshalText(text []byte) error {
	d, err := ParseDuration(string(text))
	*t = Time(d)
	return err
}

// ParseDuration parses a duration as [time.ParseDuration] or [when.ParseAge]
// does: "30s", "1h30m", "7d", "2 weeks". "forever" is negative.
func ParseDuration(text string) (time.Duration, error) {
	if text == "forever" {
		return -1, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	return when.ParseAge(text, time.Now())
}
