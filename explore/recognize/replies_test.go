package recognize_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/bough-dev/bough/explore/recognize"
)

// least is the default of min_confidence.
const least = 0.6

// A labelledReply is a line of testdata/replies.jsonl. Each option is a phrase of the
// text that the strategy found for it contains.
type labelledReply struct {
	Text    string   `json:"text"`
	Options []string `json:"options"`
}

func readReplies(t *testing.T) []labelledReply {
	t.Helper()
	f, err := os.Open("../testdata/replies.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []labelledReply
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		var r labelledReply
		if err := json.Unmarshal(scanner.Bytes(), &r); err != nil {
			t.Fatalf("line %d: %v", len(list)+1, err)
		}
		list = append(list, r)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// finds reports whether the strategies are the labelled options, in their order.
func (r labelledReply) finds(got []recognize.Offer) bool {
	if len(got) != len(r.Options) {
		return false
	}
	for i, o := range r.Options {
		if !strings.Contains(strings.ToLower(got[i].Name+"\n"+got[i].Description), strings.ToLower(o)) {
			return false
		}
	}
	return true
}

// TestRecognizeReplies measures precision and recall on both halves of the labelled
// replies. Rules may be changed after looking at the development half only, so the held-out
// half prints its figures and no cases. The author of the rules wrote and labelled both
// halves, and saw cases of the held-out half once before the rules were complete, so its
// figures are not those of unseen replies.
func TestRecognizeReplies(t *testing.T) {
	all := readReplies(t)
	if len(all) != 200 {
		t.Fatalf("got %d replies, want 200", len(all))
	}
	for parity, half := range []struct {
		name                     string
		precision, recall, exact float64 // the minimum figures
	}{
		{"development", 0.95, 0.88, 0.95},
		{"held out", 0.93, 0.65, 0.82},
	} {
		t.Run(half.name, func(t *testing.T) {
			var found, wrong, missed, exact int
			for i, r := range all {
				if i%2 != parity {
					continue
				}
				got, overall := recognize.Reply(r.Text)
				var names []string
				for _, g := range got {
					names = append(names, g.Name)
				}
				logf := func(string, ...any) {} // the held-out half prints figures only
				if parity == 0 {
					logf = t.Logf
				}
				switch offers := overall >= least; {
				case offers && len(r.Options) == 0:
					wrong++
					logf("%d: offers nothing, found %q with %.2f", i, names, overall)
				case !offers && len(r.Options) > 0:
					missed++
					logf("%d: missed %q: %q with %.2f", i, r.Options, names, overall)
				case offers && r.finds(got):
					found++
					exact++
				case offers:
					found++
					logf("%d: found %q, want %q", i, names, r.Options)
				}
			}
			precision := float64(found) / float64(found+wrong)
			recall := float64(found) / float64(found+missed)
			right := float64(exact) / float64(found)
			t.Logf("precision %.2f, recall %.2f; of those found %.2f with exactly the options", precision, recall, right)
			if precision < half.precision || recall < half.recall || right < half.exact {
				t.Errorf("the minima are %.2f, %.2f and %.2f", half.precision, half.recall, half.exact)
			}
		})
	}
}
