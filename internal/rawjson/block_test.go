package rawjson

import (
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// sameTexts scans the strings in data by blocks and byte by byte and compares the
// results.
func sameTexts(t *testing.T, data []byte) {
	t.Helper()
	s := scanner{data: data}
	for i := 0; i < len(data) && data[i] != '\\'; i++ {
		if data[i] != '"' {
			continue
		}
		want, valid := s.plainText(i)
		end, ok := s.text(i)
		if ok != valid || end != want {
			t.Fatalf("the string at %d of %q ends at %d, %v; want %d, %v", i, data, end, ok, want, valid)
		}
		if !ok {
			return
		}
		if stop := s.near.end - 64 + bits.TrailingZeros64(s.near.stops); stop != end-1 && end+8 <= len(data) {
			t.Fatalf("the string at %d of %q stops at %d, want %d", i, data, stop, end-1)
		}
		i = end - 1
	}
}

// TestTextByBlocks: the position in a block where a string begins, ends or is
// invalid does not matter.
func TestTextByBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, pieces := range []string{
		`a a a " \" \\`,
		`aaaaaaaaaaaaaaaa !"#[]^{}~ bbbbbbbbbbbbbbbbbbbbb \n\r\t\b\f\/ \" "`,
		`\\\\\\\\\\\\\\\\ \\\\ \" a " \u00e9\uD83D`,
		"a \" \\n é é\" 分 🌿 🌿🌿🌿🌿🌿🌿🌿🌿 \"",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa aaaaaa a \\\" \" \x1f \xff \\ \\x \\u \\u12ñ \\\x01 \x00 \x80 \xe4\xbd",
		strings.Repeat("aaaaaaaaaaaaaa \\\" ", 10) + "\\\x1f \x1f",
	} {
		list := strings.Split(pieces, " ")
		for range 2_000 {
			doc := []byte{'"'}
			for n := random.IntN(60); n > 0; n-- {
				doc = append(doc, list[random.IntN(len(list))]...)
			}
			sameTexts(t, doc)
			sameTexts(t, append(doc, "\"        "...))
		}
	}
}

// FuzzText: scanning strings by blocks and byte by byte gives the same result.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"\"\\\\\\\"\"", "\"é\"a\"\"\"\\u12g4\"", "\"\\\x00\"", "\"\xff"} {
		f.Add([]byte(seed), byte(63))
	}
	f.Fuzz(func(t *testing.T, data []byte, before byte) {
		sameTexts(t, append([]byte(`"`+strings.Repeat("a", int(before))), data...))
	})
}

func TestHex(t *testing.T) {
	for c := range 256 {
		want := strings.IndexByte("0123456789abcdefABCDEF", byte(c)) >= 0
		for n := range 4 {
			v := uint32(0x46613930)&^(0xff<<(8*n)) | uint32(c)<<(8*n)
			if hex(v) != want {
				t.Errorf("hex(%#x) = %v, want %v", v, !want, want)
			}
		}
	}
}
