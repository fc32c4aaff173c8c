package explore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// A task is the input of a runner; a command gets it as JSON on standard input.
type task struct {
	Exploration string            `json:"exploration_id"`
	Branch      string            `json:"branch_id"`
	Strategy    Strategy          `json:"strategy"`
	Depth       int               `json:"depth"`
	Dir         string            `json:"dir"`      // the folder of the branch
	Bindings    map[string]string `json:"bindings"` // also in the environment
	Messages    []json.RawMessage `json:"messages"` // the path to the start of the branch, root first; see [model.Message]
	Learnings   []Similar         `json:"learnings"`
	// Notes is a folder with a subfolder for each branch, named by its id. Files
	// that a branch writes to its own are stored, and its siblings can read them. It
	// is "" unless Runner.Share is set.
	Notes string `json:"notes,omitempty"`
}

// An answer is what a runner returns.
type answer struct {
	Result     string          `json:"result"`
	Confidence *float64        `json:"confidence"`
	Success    *bool           `json:"success"`
	Metrics    json.RawMessage `json:"metrics"`
	Insights   []string        `json:"insights"`
	Strategies []Strategy      `json:"strategies"` // to try in child branches
}

// parseAnswer parses the output of a command: a JSON object with a result, or plain text,
// which is the result.
func parseAnswer(out []byte) (answer, error) {
	text := bytes.TrimSpace(out)
	switch {
	case len(text) == 0:
		return answer{}, errors.New("it printed nothing")
	case !utf8.Valid(text):
		return answer{}, errors.New("its output is not valid UTF-8")
	case text[0] != '{' || !json.Valid(text):
		return answer{Result: string(text)}, nil
	}
	var raw struct {
		answer
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return answer{}, fmt.Errorf("parse its answer: %w", err)
	}
	a := raw.answer
	if len(raw.Result) == 0 || string(raw.Result) == "null" {
		return answer{}, errors.New("its answer has no result")
	}
	if json.Unmarshal(raw.Result, &a.Result) != nil {
		a.Result = string(raw.Result) // a number or another JSON value
	}
	if strings.TrimSpace(a.Result) == "" {
		return answer{}, errors.New("its answer has no result")
	}
	if _, said := confidence(a.Confidence); !said {
		a.Confidence = nil
	}
	for i, s := range a.Strategies {
		if a.Strategies[i].Name = strings.TrimSpace(s.Name); a.Strategies[i].Name == "" || strings.Contains(s.Name, "\x00") {
			return answer{}, fmt.Errorf("strategy %d of its answer has no name, or a NUL byte in it", i+1)
		}
	}
	if m := bytes.TrimSpace(a.Metrics); len(m) > 0 && m[0] != '{' {
		return answer{}, errors.New("the metrics of its answer are not an object")
	}
	return a, nil
}

// sayConfidence asks a model for the confidence that parseReply parses.
const sayConfidence = `Answer with the result. As the last line say how sure you are that it is right, from 0 to 1, as "Confidence: 0.8".`

// lastLine matches a last line with the confidence of a model.
const lastLine = `(?i)(?:^|\n)[ \t*_#>-]*confidence[ \t*_]*[:=][ \t*_]*([0-9]*\.?[0-9]+)[ \t]*(%?)[ \t*_.]*$`

// parseReply parses the reply of a model: text, whose last line may have the
// confidence, or a JSON object as for parseAnswer.
func parseReply(text string) (answer, error) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if inner, ok := strings.CutPrefix(text, "```json\n"); ok && strings.HasSuffix(inner, "\n```") {
		if inner = strings.TrimSuffix(inner, "```"); json.Valid([]byte(inner)) && gjson.Get(inner, "result").Exists() {
			text = inner
		}
	}
	if json.Valid([]byte(text)) && gjson.Get(text, "result").Exists() {
		return parseAnswer([]byte(text))
	}
	a := answer{Result: text}
	if at := regexp.MustCompile(lastLine).FindStringSubmatchIndex(text); at != nil {
		a.Result = strings.TrimSpace(text[:at[0]])
		c, err := strconv.ParseFloat(text[at[2]:at[3]], 64)
		if at[4] < at[5] {
			c /= 100
		}
		if err == nil && unit(c) {
			a.Confidence = &c
		}
	}
	if a.Result == "" {
		return answer{}, errors.New("its reply is empty")
	}
	return a, nil
}
