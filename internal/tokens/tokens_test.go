package tokens

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"

	"github.com/tiktoken-go/tokenizer/codec"
)

// TestCount: the counts equal those of js-tiktoken, which has its own code and its
// own copy of the vocabulary.
func TestCount(t *testing.T) {
	var c Counter
	for text, want := range map[string]int{
		"":                              0,
		"a":                             1,
		" ":                             1,
		"hello world":                   2,
		"Hello, world!":                 4,
		"tiktoken is great!":            6,
		"antidisestablishmentarianism":  6,
		"1234567890":                    4, // three digits at most
		"I'll we've SHE'D":              4,
		"   leading   and  trailing   ": 7,
		"\r\n\r\n":                      1,
		"func main() {\n\tfmt.Println(\"hi\")\n}\n": 10,
		`{"path":"a","n":12345678901234567890}`:     15,
		"保存对话的分支，":                                  7,
		"你好，世界！":                                    4,
		"مرحبا بالعالم":                             4,
		"naïve café 🐧":                              7,
		"👨‍👩‍👧‍👦":                                   11,
		"e\u0301":                                   2,
		"a\x00b":                                    3,
		"<|endoftext|>":                             7,
		"hello <|endoftext|> world":                 9,
		strings.Repeat(" \n", 100):                  100,
	} {
		for range 2 { // counted, and cached
			if n := c.Count(text); n != want {
				t.Errorf("Count(%q) = %d, want %d", text, n, want)
			}
		}
	}
}

// TestWords: counting word by word gives the same result as counting in one piece.
func TestWords(t *testing.T) {
	whole := codec.NewO200kBase()
	var c Counter
	same := func(text string) {
		t.Helper()
		want, err := whole.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if n := c.Count(text); n != want {
			t.Fatalf("Count(%q) = %d, want %d", text, n, want)
		}
	}
	for _, unit := range []string{
		"A path is found from its leaf,\n so that going back costs nothing. ",
		"x = 12345; // 'tis 3.5€ \r\n\r\n\tif (a) { b() }   ",
		"保存对话的分支， 它之前的一切\n",
		"don't  I'LL\u00a0we\u3000've\u2028",
	} {
		same(strings.Repeat(unit, 2*longRun/len(unit)))
	}
	pieces := []string{" ", " ", "\n", "\r", "\t", "a", "B", "'s", "'LL", "'", "1", "12345", "é", "日", "!", "/", "\u00a0", "\u0301", "ǅ", "🐧",
		"\u200d", "_", "(", "{\"", "x", "the", "ing", "\u3000", "\v", "\u0085", "ʰ", "ſ", "\xff", "\xe6\x97", "٣", "Ⅷ", "ा", "क", "½", "'re", "’"}
	random := rand.New(rand.NewPCG(3, 4))
	for range testsize.Of(500, 1_000, 5_000) {
		var text string
		for range random.IntN(16) {
			text += pieces[random.IntN(len(pieces))]
		}
		same(text)
	}
}

// TestNoWords: a text without words is counted quickly, and nearly correctly.
func TestNoWords(t *testing.T) {
	whole := codec.NewO200kBase()
	var c Counter
	for _, unit := range []string{" \n", " \r", "\n", " ", "a", "!", "é", "\xff", "分"} {
		text := strings.Repeat(unit, testsize.Of(3_000, 6_000, 12_000)/len(unit))
		want, err := whole.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if n := c.Count(text); n < want || n > want+20 {
			t.Errorf("%q repeated: %d tokens, want %d or a few more", unit, n, want)
		}
		c.Count(strings.Repeat(unit, testsize.Of(longRun+10_000, 1<<17, 1<<17)/len(unit))) // in one piece it might take minutes
	}
}

func TestWordIn(t *testing.T) {
	long := strings.Repeat("x", longRun)
	for _, c := range []struct {
		text string
		want int
	}{
		{"a", 1},
		{"a b", 1},
		{" ab1 c", 4},
		{"\n\n!a.", 4},
		{"don't go", 5},
		{"dogs' go", 8},
		{"e\u0301 go", 6},
		{"été go", 5},
		{"...", 3},
		{long, longRun},
		{long + "y", longRun},
		{long[1:] + "éy", longRun + 1},
		{strings.Repeat(" ", longSpace), longSpace},
		{strings.Repeat(" ", longSpace+1), longSpace},
		{"!" + strings.Repeat("\u3000", longSpace+1), 1 + 3*longSpace},
	} {
		if n := wordIn(c.text); n != c.want {
			t.Errorf("the first word of %.20q... has %d bytes, want %d", c.text, n, c.want)
		}
	}
}

// TestMemory: the size of the cache is limited, and used counts are kept.
func TestMemory(t *testing.T) {
	var m memory[string]
	m.remember("used", 7)
	for i := range testsize.Of(2, 3, 3)*remembered + 1 {
		m.remember(strconv.Itoa(i), i)
		if n, ok := m.recall("used"); n != 7 || !ok {
			t.Fatalf("recalled %d, %v after %d", n, ok, i)
		}
	}
	if n := len(m.young) + len(m.old); n > 2*remembered || n < remembered {
		t.Errorf("%d are remembered", n)
	}
	if n, ok := m.recall("0"); ok {
		t.Errorf("%d unused counts are cached", n)
	}
}

// TestGoroutines is for the race detector.
func TestGoroutines(t *testing.T) {
	var c Counter
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				text := fmt.Sprintf("the number %d", (g+i)%100)
				if n := c.Count(text); n != 4 {
					t.Errorf("Count(%q) = %d", text, n)
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkCount measures counting a text of some 1,000 bytes: a cached one,
// one of cached words, and one of new words; and loading the vocabulary.
func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("A path is found from its leaf, so that going back costs nothing.\n", 16)
	b.Run("known", func(b *testing.B) {
		var c Counter
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			c.Count(text)
		}
	})
	b.Run("words", func(b *testing.B) {
		var c Counter
		i := 0
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			i++
			c.Count(strconv.Itoa(i) + text)
		}
	})
	b.Run("new", func(b *testing.B) {
		var c Counter
		c.Count(text)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			c.words = memory[string]{}
			c.texts = memory[key]{}
			c.Count(text)
		}
	})
	b.Run("whole", func(b *testing.B) {
		whole := codec.NewO200kBase()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, err := whole.Count(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
