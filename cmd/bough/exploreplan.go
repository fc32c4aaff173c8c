package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

// exploreRequest parses the flags and the argument of the verb.
func exploreRequest(c *cli.Context) (explore.Request, error) {
	r, err := parseExplore(c)
	if err == nil {
		err = r.Validate()
	}
	if e := new(fault.Error); errors.As(err, &e) && e.Code == fault.Usage && (e.Hint == "" || e.Hint == listsVerbs) {
		e.Hint = seeHelp("explore")
	}
	return r, err
}

func parseExplore(c *cli.Context) (r explore.Request, err error) {
	r = explore.Request{
		Ref:      c.Args().First(),
		Runner:   explore.Runner{Command: c.String("run"), Model: c.String("model"), Share: c.Bool("share"), Keep: c.Bool("keep")},
		Settings: exploreSettings(c),
	}
	given := wordsOf(c, "strategy")
	switch reply := c.Bool("from-reply"); {
	case reply && len(given) > 0:
		return r, usageError("--strategy and --from-reply exclude each other")
	case !reply && len(given) == 0:
		return r, usageError("no strategies: give --strategy NAME=DESCRIPTION, or --from-reply")
	case c.IsSet("run") && strings.TrimSpace(r.Runner.Command) == "":
		return r, usageError("--run is empty")
	case reply:
		r.Recognizer = r.Runner.Model
	}
	for _, s := range given {
		name, description, _ := strings.Cut(s, "=")
		r.Strategies = append(r.Strategies, explore.Strategy{Name: strings.TrimSpace(name), Description: strings.TrimSpace(description)})
	}
	if c.IsSet("model") {
		if _, _, err := parseModel(r.Runner.Model); err != nil {
			return r, err
		}
	}
	if r.Runner.Command == "" && !c.Bool("dry-run") {
		for _, flag := range []string{"dir", "bind", "share", "keep"} {
			if c.IsSet(flag) {
				return r, usageError("--%s needs --run: a model has no folder", flag)
			}
		}
	}
	if c.IsSet("evaluate") {
		if r.Method, err = explore.ParseMethod(c.String("evaluate")); err != nil {
			return r, err
		}
	}
	for _, s := range wordsOf(c, "bind") {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return r, usageError("--bind takes K=V, not %q", s)
		}
		if r.Runner.Bindings == nil {
			r.Runner.Bindings = map[string]string{}
		}
		r.Runner.Bindings[name] = value
	}
	if dir := c.String("dir"); c.IsSet("dir") {
		if dir == "" {
			return r, usageError("--dir is empty")
		}
		if r.Runner.Dir, err = filepath.Abs(dir); err != nil {
			return r, err
		}
	}
	return r, nil
}

// exploreSettings returns the settings that flags give, as a [explore.Request] has them.
func exploreSettings(c *cli.Context) []byte {
	set := map[string]any{}
	for _, name := range []string{"max-depth", "max-concurrent", "timeout", "min-confidence", "prune", "synthesize"} {
		if !c.IsSet(name) {
			continue
		}
		value := c.Value(name)
		if d, ok := value.(time.Duration); ok {
			value = d.String()
		}
		set[strings.ReplaceAll(name, "-", "_")] = value
	}
	if list := wordsOf(c, "metric"); len(list) > 0 {
		metrics := map[string]string{}
		for _, w := range list {
			name, direction, _ := strings.Cut(w, "=")
			metrics[name] = direction
		}
		set["metrics"] = metrics
	}
	data, err := json.Marshal(set)
	if err != nil { // NaN
		return []byte(`{"prune": "` + fmt.Sprint(err) + `"}`)
	}
	return data
}

// planned prints a plan.
func (p *program) planned(plan *explore.Plan) error {
	if p.json {
		return p.printJSON(plan)
	}
	for _, s := range plan.Strategies {
		fmt.Fprintln(p.stdout, strings.TrimRight(fmt.Sprintf("%.2f  %s  %s", s.Confidence, p.paint.bold(line(s.Name)), p.paint.fit(line(s.Description), p.paint.width-8-width(s.Name))), " "))
	}
	p.reasons(plan.Strategies)
	if !plan.Explores {
		fmt.Fprintf(p.stderr, "Not explored: %s.\n", plan.Reason)
	}
	return nil
}

// reasons prints why strategies are ranked as they are.
func (p *program) reasons(list []explore.RankedStrategy) {
	for _, s := range list {
		if s.Reason != "" {
			fmt.Fprintf(p.stderr, "%s: %s\n", line(s.Name), line(s.Reason))
		}
	}
}
