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
//
// Of a text of more than half a megabyte only samples are counted, half a megabyte of them,
// and the result is an estimate: to count 31 MB takes up to half a minute.
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

// Count returns the number of tokens in text, an estimate if text is longer than half a
// megabyte. The time that it takes is bounded, however long the text is.
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
