package chatgpt

import (
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
)

func TestWithoutCitations(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"No marks.", "No marks."},
		{"Tea is old【4†source】.", "Tea is old."},
		{"Tea is old 【4:0†L10-L20】. Coffee【11†a.pdf】 is not.", "Tea is old. Coffee is not."},
		{"Brackets【注】 stay, and 【open", "Brackets【注】 stay, and 【open"},
		{"Old \ue200cite\ue202turn0search0\ue201. New \ue200cite\ue202turn0search1\ue202turn0search2\ue201", "Old. New"},
		{"In the file \ue200filecite\ue202turn0file0\ue202L1-L2\ue201, too", "In the file, too"},
		{"\ue200entity\ue202[\"city\",\"Paris\",\"capital of France\"]\ue201 is large", "Paris is large"},
		{"See \ue200url\ue202The docs\ue202turn0search0\ue201.", "See The docs."},
		{"\ue200navlist\ue202News of tea\ue202turn0news1,turn0news2\ue201", "News of tea"},
		{"\ue200entity\ue202[1\ue201 \ue200i\ue202turn0image0\ue201\n", "\n"},
		{"\ue203Marked\ue204\ue206\ue200cite\ue202turn0search0\ue201 text", "Marked text"},
		{"It ends \ue200cite\ue202turn0", "It ends citeturn0"},
		{"As said:contentReference[oaicite:3]{index=3}.", "As said."},
	} {
		if got := withoutCitations(c.in); got != c.want {
			t.Errorf("of %q came %q, want %q", c.in, got, c.want)
		}
	}
	many := strings.Repeat("\ue200【:contentReference[oaicite:", testsize.Of(20_000, 100_000, 100_000))
	withoutCitations(many) // in time
}
