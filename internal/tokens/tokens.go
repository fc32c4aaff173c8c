// Package tokens counts the tokens of texts as OpenAI's models with the vocabulary
// o200k_base do. The vocabulary is part of the program. Other models count slightly
// differently; the numbers serve for limits and for comparison.
//
// Special tokens such as <|endoftext|> are treated as ordinary text.
//
// A text is counted word by word. This gives the same result, because no token
// spans the end of a word, and is much faster, because most words have been counted
// before. Text without words is cut after a thousand characters of white space and
// after sixty thousand bytes of anything else, because counting it in one piece may
// take hours. Each cut may add a token.
//
// For a text of more than half a megabyte only samples of that size are counted,
// and the result is an estimate: counting 31 MB takes up to half a minute.
package tokens

import (
	"hash/maphash"
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// A Counter counts tokens and caches the counts, because the texts of messages do
// not change and are counted often. The zero Counter is ready to use. It is safe
// for concurrent use. Its first use loads the vocabulary, which takes some
// hundredths of a second and tens of megabytes.
type Counter struct {
	once  sync.Once
	codec *codec.Codec
	seeds [2]maphash.Seed

	texts memory[key]
	words memory[string]
}

// A key identifies a text: two hashes of it with different seeds.
type key [2]uint64

// Count returns the number of tokens in text, an estimate if text is longer than
// half a megabyte. Its running time is bounded for texts of any length.
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
	n, counted := 0, 0
	for _, s := range samples(text) {
		n += c.exact(s)
		counted += len(s)
	}
	if counted < len(text) {
		n = int(float64(n) * float64(len(text)) / float64(counted))
	}
	c.texts.remember(k, n)
	return n
}

// exact counts text word by word.
func (c *Counter) exact(text string) (n int) {
	for text != "" {
		size := wordIn(text)
		n += c.word(text[:size])
		text = text[size:]
	}
	return n
}

// longWord is the maximum length of words whose count is cached, in bytes.
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
		panic("tokens: " + err.Error()) // it fails only if a time limit is set
	}
	return n
}

// A memory is a cache of counts. The zero memory is empty.
type memory[K comparable] struct {
	mu sync.RWMutex
	// young has the counts that were added or used since it was last empty, old
	// those of the period before.
	young, old map[K]int32
}

// remembered is the maximum size of young and of old, some eight megabytes
// together.
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
