package recognize

import (
	"reflect"
	"strings"
	"testing"
)

// TestBlocks: lists as models write them, which CommonMark parses differently.
func TestBlocks(t *testing.T) {
	for _, c := range []struct{ reply, want string }{
		{"1. A\n  - x\n  - y\n2. B\n  - z\n", "[A: x y] [B: z]"},
		{"10. A\n   - x\n     - deep\n11. B\n  more\n", "[A: x deep] [B more]"},
		{"1. A\n  of A\n  - x\n2. B\n", "[A of A: x] [B]"},
		{"- A\n  - x\n    - deep\n- B\n", "[A: x deep] [B]"},
		{"- A\n* B\n+ C\n", "[A] [B] [C]"},
		{"Text:\n2. two\n3. three\n", "Text: | [two] [three]"},
		{"- A\n- B\nA sentence.\n", "[A] [B] | A sentence."},
		{"1. A\n\n   more\n\n   ```\n   code\n   ```\n2. B\n", "[A: more] [B]"},
		{"* * *\n", ""},
		{"- see https://x.org\n  and <b>this</b>\n\n  <div>\n  x\n  </div>\n", "[see https://x.org and this]"},
		{" **bold** and  \nmore\n", "bold and more"},
	} {
		var got []string
		for _, b := range blocks(c.reply) {
			var items []string
			for _, it := range b.items {
				if it.more != "" {
					it.text += ": " + it.more
				}
				items = append(items, "["+it.text+"]")
			}
			got = append(got, b.text+strings.Join(items, " "))
		}
		if strings.Join(got, " | ") != c.want {
			t.Errorf("the blocks of %q are %q, want %q", c.reply, strings.Join(got, " | "), c.want)
		}
	}
	table := blocks("| a | b |\n|---|---|\n| 1 | **2** |\n| 3 |\n| 4 | 5 | 6 |\n")
	if want := [][]string{{"a", "b"}, {"1", "2"}, {"3", ""}, {"4", "5"}}; len(table) != 1 || !reflect.DeepEqual(table[0].rows, want) {
		t.Errorf("the table is %+v", table)
	}
	if got := blocks(strings.Repeat("[a](", 1<<16)); got != nil {
		t.Errorf("a slow document has %d blocks", len(got))
	}
}
