package pipe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent"
)

// What a request through the pipe costs beside the model.
func BenchmarkAsk(b *testing.B) {
	c, err := Start(b.Context(), companion("serve"), &Options{Version: wiring.Version})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	m, err := c.Model(b.Context(), "test:size")
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{100, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			text := json.RawMessage(`"` + strings.Repeat("x", size) + `"`)
			r := &agent.Request{Messages: []agent.Message{{ID: "1", Role: "user", Content: text}}}
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := m.Ask(b.Context(), r, func(string) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a companion costs that is started and ended.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		c, err := Start(b.Context(), companion("serve"), &Options{Version: wiring.Version})
		if err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}
