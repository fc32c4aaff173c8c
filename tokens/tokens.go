// Package tokens counts the tokens of texts as models of OpenAI do that read
// o200k_base, whose vocabulary is part of the program. Other models count a little
// differently; the numbers serve for limits and for comparison.
//
// What looks like a special token, as <|endoftext|>, is text like any other.
//
// A text is counted word by word, which changes nothing, as no token holds the end of a
// word and what follows it, and is much faster, as most words have been counted before.
// Where there are no words, it is cut after a thousand characters of white space and
// sixty thousand bytes of anything else: to count it in one piece may take hours. That
// may add a token for each cut.
package tokens

import (
	"hash/maphash"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// A Counter counts tokens, and remembers what it has counted: texts of messages do not
// change, and are counted again and again. The zero Counter is ready; any number of
// goroutines may use it. Its first use reads the vocabulary, which takes some
// hundredths of a second and tens of megabytes.
type Counter struct {
	once  sync.Once
	codec *codec.Codec
	seeds [2]maphash.Seed

	texts memory[key]
	words memory[string]
}

// A key stands for a text: two hashes of it with seeds of their own.
type key [2]uint64

// Count returns the number of tokens in text.
func (c *Counter) Count(text string) int {
	if text == "" {
		return 0
	}
	c.once.Do(func() {
		c.codec = codec.NewO200kBase()
		c.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	})
	k := key{maphash.String(c.seeds[0], text), maphash.String(c.seeds[1], text)}
	if n, ok := c.texts.recall(k); ok {
		return n
	}
	n := 0
	for rest := text; rest != ""; {
		size := wordIn(rest)
		n += c.word(rest[:size])
		rest = rest[size:]
	}
	c.texts.remember(k, n)
	return n
}

// longWord is how long words may be, in bytes, that are remembered.
const longWord = 24

// word returns the number of tokens in a word.
func (c *Counter) word(s string) int {
	if len(s) > longWord {
		return c.encoded(s)
	}
	n, ok := c.words.recall(s)
	if !ok {
		n = c.encoded(s)
		c.words.remember(string([]byte(s)), n)
	}
	return n
}

func (c *Counter) encoded(s string) int {
	n, err := c.codec.Count(s)
	if err != nil {
		panic("tokens: " + err.Error()) // it fails only where a time limit is set
	}
	return n
}

// A memory holds counts. The zero memory is empty.
type memory[K comparable] struct {
	mu sync.RWMutex
	// What was counted or used since young was empty is in young, and what was so the
	// time before in old.
	young, old map[K]int32
}

// remembered is how much young and old may hold each, in some eight megabytes.
const remembered = 1 << 17

func (m *memory[K]) recall(k K) (int, bool) {
	m.mu.RLock()
	n, ok := m.young[k]
	aged := false
	if !ok {
		n, aged = m.old[k]
	}
	m.mu.RUnlock()
	if aged {
		m.remember(k, int(n))
	}
	return int(n), ok || aged
}

func (m *memory[K]) remember(k K, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.young == nil || len(m.young) >= remembered {
		m.young, m.old = map[K]int32{}, m.young
	}
	m.young[k] = int32(n)
}
