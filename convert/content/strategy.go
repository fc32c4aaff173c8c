package content

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Strategy shortens a list of messages: see [ParseStrategies].
type Strategy struct {
	kind        string
	keep        int      // number of the newest results or calls that are kept
	placeholder string   // replaces older results
	tools       []string // names of tools whose results or calls are kept
	over        int      // if not 0, only parts with more tokens are changed
	tokens      int      // maximum number of tokens
}

// The strategies.
const (
	removeResults   = "remove_tool_result"
	removeArguments = "remove_tool_call_params"
	middleOut       = "middle_out"
	tokenLimit      = "token_limit"
)

// order is the order in which strategies are applied, independent of the order in
// the input.
var order = []string{removeResults, removeArguments, middleOut, tokenLimit}

// ParseStrategies parses an array of objects with type and params:
//
//	remove_tool_result       keep_recent_n_tool_results (3), tool_result_placeholder
//	                         ("Done"), keep_tools, gt_token
//	remove_tool_call_params  keep_recent_n_tool_calls (3), keep_tools, gt_token
//	middle_out               token_reduce_to, which must be given
//	token_limit              limit_tokens, which must be given
//
// The error is an *[Error].
func ParseStrategies(data []byte) ([]Strategy, error) {
	switch {
	case !utf8.Valid(data), !json.Valid(data):
		return nil, wrong("", "the strategies are not JSON")
	case !isArray(tidy(data)):
		return nil, wrong("", "the strategies must be an array")
	}
	var list []Strategy
	var err error
	i := 0
	elements(data, func(element []byte) {
		if err == nil {
			var s Strategy
			s, err = parseStrategy(element)
			err = in(fmt.Sprintf("[%d]", i), err)
			list = append(list, s)
		}
		i++
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b Strategy) int {
		return slices.Index(order, a.kind) - slices.Index(order, b.kind)
	})
	return list, nil
}

func parseStrategy(element []byte) (Strategy, error) {
	if !isObject(element) {
		return Strategy{}, wrong("", "must be an object")
	}
	params := member(element, "params")
	if !isNull(params) && !isObject(params) {
		return Strategy{}, wrong("params", "must be an object")
	}
	s := Strategy{kind: text(member(element, "type"))}
	r := reader{params: params}
	switch s.kind {
	case removeResults:
		s.keep = r.number("keep_recent_n_tool_results", 3, 0)
		s.placeholder = strings.TrimSpace(r.text("tool_result_placeholder"))
		if s.placeholder == "" {
			s.placeholder = "Done"
		}
		s.tools, s.over = r.texts("keep_tools"), r.number("gt_token", 0, 1)
	case removeArguments:
		s.keep = r.number("keep_recent_n_tool_calls", 3, 0)
		s.tools, s.over = r.texts("keep_tools"), r.number("gt_token", 0, 1)
	case middleOut:
		s.tokens = r.number("token_reduce_to", -1, 1)
	case tokenLimit:
		s.tokens = r.number("limit_tokens", -1, 1)
	default:
		return s, wrong("type", "must be one of %s", choice(order))
	}
	return s, r.err
}

// A reader decodes params and keeps the first error.
type reader struct {
	params []byte
	err    error
}

func (r *reader) wrong(name, format string, args ...any) {
	if r.err == nil {
		r.err = wrong("params."+name, format, args...)
	}
}

// number returns a whole number that is at least least. If it is absent, number
// returns other, or an error if other is negative.
func (r *reader) number(name string, other, least int) int {
	value := member(r.params, name)
	if isNull(value) {
		if other < 0 {
			r.wrong(name, "must be given")
		}
		return other
	}
	f, err := strconv.ParseFloat(string(value), 64)
	switch {
	case err != nil || f != math.Trunc(f):
		r.wrong(name, "must be a whole number")
	case f < float64(least):
		r.wrong(name, "must be at least %d", least)
	}
	return int(min(f, math.MaxInt32)) // lists are never longer
}

func (r *reader) text(name string) string {
	value := member(r.params, name)
	if !isNull(value) && !isText(value) {
		r.wrong(name, "must be a string")
	}
	return text(value)
}

func (r *reader) texts(name string) (list []string) {
	value := member(r.params, name)
	if !isNull(value) && !isArray(value) {
		r.wrong(name, "must be an array of strings")
	}
	elements(value, func(element []byte) {
		if !isText(element) {
			r.wrong(name, "must be an array of strings")
		}
		list = append(list, text(element))
	})
	return list
}
