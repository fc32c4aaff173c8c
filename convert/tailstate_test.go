package convert

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/testtranscript"
)

// passed is a sink that keeps what a tail passes on.
type passed struct {
	Messages []*transcript.Message
	Ends     []transcript.Conversation
	Problems []transcript.Problem
}

func (p *passed) Message(m *transcript.Message) error {
	p.Messages = append(p.Messages, m)
	return nil
}

func (p *passed) End(c *transcript.Conversation) error {
	p.Ends = append(p.Ends, *c)
	return nil
}

func (p *passed) Problem(problem transcript.Problem) { p.Problems = append(p.Problems, problem) }

// TestTailState: a tail that is restored from its state after each part of a transcript passes
// on the same as one that reads all parts.
func TestTailState(t *testing.T) {
	for _, f := range Formats {
		if f.tail == nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(4, 8))
			var files [][]byte
			for _, name := range testsize.Sample(t, "fixtures", fixturesOf(t, f), testsize.Of(2, 8, 0)) {
				if filepath.Ext(name) == ".jsonl" {
					files = append(files, readFile(t, name))
				}
			}
			for _, g := range growers {
				for range testsize.Of(1, 4, 20) {
					if g.f == f && g.draw != nil {
						files = append(files, g.draw(random))
					}
				}
			}
			for range testsize.Of(1, 3, 12) {
				if !f.Writes() {
					break
				}
				var b bytes.Buffer
				tr := testtranscript.Tree(random)
				if !f.Branches {
					tr.Messages = pathTo(tr, tr.Leaf)
				}
				if _, err := f.Write(&b, tr, linearOptions()); err != nil {
					t.Fatal(err)
				}
				files = append(files, b.Bytes())
			}
			for _, data := range files {
				restoring(t, f, data, random)
			}
		})
	}
}

// restoring compares two tails of a transcript, of which one is restored after each part.
func restoring(t *testing.T, f *Format, data []byte, random *rand.Rand) {
	t.Helper()
	var want, got passed
	head := data[:min(len(data), HeadSize)]
	whole, part := f.Tail(head, &want), f.Tail(head, &got)
	if whole == nil {
		return // it is no log
	}
	for lines := slices.Collect(bytes.Lines(data)); len(lines) > 0; {
		n := 1 + random.IntN(min(4, len(lines)))
		piece := bytes.Join(lines[:n], nil)
		lines = lines[n:]
		if err := whole.Read(bytes.NewReader(piece)); err != nil {
			t.Fatal(err)
		}
		if err := part.Read(bytes.NewReader(piece)); err != nil {
			t.Fatal(err)
		}
		state, err := part.State(random.IntN(2) * 1000)
		if err != nil {
			t.Fatal(err)
		}
		if part, err = f.RestoreTail(state, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Problems) > len(want.Problems) {
			return // a second message with the same id and the same content
		}
		var wantEnd, gotEnd passed
		if err := whole.End(&wantEnd); err != nil {
			t.Fatal(err)
		}
		if err := part.End(&gotEnd); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotEnd, wantEnd) {
			t.Fatalf("a restored tail passes on\n%s\nand at the end\n%s\ninstead of\n%s\nand\n%s\nof\n%s", passedText(got), passedText(gotEnd), passedText(want), passedText(wantEnd), data)
		}
	}
	for _, state := range [][]byte{nil, []byte("{}"), bytes.Repeat([]byte{1}, 1000)} {
		if _, err := f.RestoreTail(state, &got); err == nil {
			t.Errorf("no error for the state %q", state)
		}
	}
}

func passedText(p passed) string {
	return drawn(&transcript.Transcript{Messages: p.Messages})
}
