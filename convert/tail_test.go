package convert

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/testtranscript"
)

// A collector is a sink that keeps everything.
type collector struct {
	messages []*transcript.Message
	conv     *transcript.Conversation
}

func (c *collector) Message(m *transcript.Message) error {
	c.messages = append(c.messages, m)
	return nil
}
func (c *collector) End(conv *transcript.Conversation) error { end := *conv; c.conv = &end; return nil }
func (c *collector) Problem(transcript.Problem)              {}
func (c *collector) String() string                          { return fmt.Sprintf("%+v %+v", c.conv, c.messages) }
func (c *collector) copies() (list []transcript.Message) {
	for _, m := range c.messages {
		list = append(list, *m)
	}
	return list
}

// TestTail: after each piece of a transcript, which ends with a line, the messages that a tail
// has passed on, with those of its end, and the conversation are those of the transcript so far.
// Messages that were passed on do not change.
func TestTail(t *testing.T) {
	tails := 0
	for _, g := range append(growers, grower{claudeCodeFormat, testtranscript.ClaudeCode}) {
		if g.f.tail == nil {
			continue
		}
		tails++
		t.Run(g.f.Name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, 11))
			var files [][]byte
			for _, name := range fixturesOf(t, g.f) {
				files = append(files, readFile(t, name))
			}
			for range testsize.Of(1, 3, 60) {
				if g.f.Writes() {
					var b bytes.Buffer
					tr := testtranscript.Tree(random)
					if _, err := g.f.Write(&b, tr, linearOptions()); err != nil {
						t.Fatal(err)
					}
					files = append(files, b.Bytes())
				}
				if g.draw != nil {
					files = append(files, g.draw(random))
				}
			}
			read := 0
			for _, data := range files {
				read += tailed(t, g.f, data, random)
			}
			if read < 10 {
				t.Errorf("only %d pieces were read", read)
			}
		})
	}
	if tails != 6 {
		t.Errorf("%d formats have tails", tails)
	}
}

// tailed reads a transcript in pieces, and returns their number.
func tailed(t *testing.T, f *Format, data []byte, random *rand.Rand) (pieces int) {
	t.Helper()
	passed := &collector{}
	tail := f.Tail(data[:min(len(data), HeadSize)], passed)
	if tail == nil {
		return 0
	}
	var was []transcript.Message // what had been passed on
	from, at := 0, 0
	for line := range bytes.Lines(data) {
		if at += len(line); random.IntN(3) == 0 && at < len(data) || line[len(line)-1] != '\n' && at < len(data) {
			continue
		}
		pieces++
		if err := tail.Read(bytes.NewReader(data[from:at])); err != nil {
			t.Fatal(err)
		}
		from = at
		if now := passed.copies(); len(was) > 0 && !reflect.DeepEqual(now[:len(was)], was) {
			t.Fatalf("after %d bytes, a message that was passed on has changed", at)
		}
		end := &collector{}
		if err := tail.End(end); err != nil {
			t.Fatal(err)
		}
		was = passed.copies()
		got := &collector{append(passed.messages[:len(passed.messages):len(passed.messages)], end.messages...), end.conv}
		want := &collector{}
		if err := f.Read(bytes.NewReader(data[:at]), want); err != nil && err != ErrNothing {
			t.Fatal(err)
		}
		if got.conv == nil && want.conv == nil {
			continue
		}
		if !reflect.DeepEqual(got.conv, want.conv) {
			t.Fatalf("after %d bytes the conversation is %+v, want %+v, of\n%s", at, got.conv, want.conv, data)
		}
		if g, w := got.copies(), want.copies(); !reflect.DeepEqual(g, w) {
			for i := range w {
				if i >= len(g) || !reflect.DeepEqual(g[i], w[i]) {
					t.Fatalf("after %d bytes message %d of %d is\n%+v\nof %d, want\n%+v\nof\n%s", at, i, len(w), g[min(i, len(g)-1)], len(g), w[i], data[:at])
				}
			}
			t.Fatalf("after %d bytes there are %d messages, want %d", at, len(g), len(w))
		}
	}
	return pieces
}
