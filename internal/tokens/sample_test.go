package tokens

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/testsize"
)

// TestSamples: the samples of a text of any length are limited in size, include its
// start and end, and do not split a rune.
func TestSamples(t *testing.T) {
	for _, unit := range []string{"x", "é", "分", "🐧", "a分", "\xff", "\x80"} {
		for _, length := range []int{0, 1, maxExact - 1, maxExact, maxExact + 1, maxExact + 100, testsize.Of(2*maxExact, 2<<20, 5<<20)} {
			text := strings.Repeat(unit, length/len(unit))
			list := samples(text)
			sum, valid := 0, utf8.ValidString(unit)
			for _, s := range list {
				sum += len(s)
				if valid && !utf8.ValidString(s) {
					t.Fatalf("%q, %d bytes: a rune is cut", unit, len(text))
				}
			}
			if sum > maxExact+len(list)*utf8.UTFMax {
				t.Errorf("%q, %d bytes: %d bytes are counted", unit, len(text), sum)
			}
			if len(text) <= maxExact && (len(list) != 1 || list[0] != text) {
				t.Errorf("%q, %d bytes: it is not counted completely", unit, len(text))
			}
			if !strings.HasPrefix(text, list[0]) || !strings.HasSuffix(text, list[len(list)-1]) {
				t.Errorf("%q, %d bytes: its ends do not count", unit, len(text))
			}
		}
	}
}

// TestEstimate: an estimate is nearly correct, even if the kind of text changes.
func TestEstimate(t *testing.T) {
	var c Counter
	random := rand.New(rand.NewPCG(1, 2))
	size := testsize.Of(maxExact/2, 1<<18, 1<<20) // of one kind
	var text strings.Builder
	for text.Len() < size {
		text.WriteString("A path is found from its leaf, so that going back costs nothing.\n")
	}
	for text.Len() < 2*size {
		fmt.Fprintf(&text, "%d: %x,\n", random.Uint32(), random.Uint64())
	}
	for text.Len() < 3*size {
		text.WriteString("保存对话的分支， 它之前的一切\n")
	}
	got := c.Count(text.String()) // includes loading the vocabulary
	want := c.exact(text.String())
	if off := float64(got)/float64(want) - 1; off < -0.05 || off > 0.05 {
		t.Errorf("%d tokens, want %d or nearly so", got, want)
	}
	if again := c.Count(text.String()); again != got {
		t.Errorf("the second time %d tokens, the first %d", again, got)
	}
}
