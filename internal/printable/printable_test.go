package printable

import "testing"

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"plain, tab\tand\nline":             "plain, tab\tand\nline",
		"a\r\nb\rc\u2028d\u2029e":           "a\nb\nc\nd\ne",
		"\x1b[31mred\x07\x7f\u009b":         "\ufffd[31mred\ufffd\ufffd\ufffd",
		"\u202egnp.exe\u2066x\u206f":        "\ufffdgnp.exe\ufffdx\ufffd",
		"invalid \xff":                      "invalid \ufffd",
		"non-breaking\u00a0and \u200d":      "non-breaking\u00a0and \u200d",
		"of Windows\r\nand\rold":            "of Windows\nand\nold",
		"\x1b]52;c;cm0gLXJm\x1b\\":          "\ufffd]52;c;cm0gLXJm\ufffd\\",
		"\u009b2J \u0085 \x7f \x00 \b":      "\ufffd2J \ufffd \ufffd \ufffd \ufffd",
		"\x9b2J\xff":                        "\ufffd2J\ufffd",
		"a\u202eb\u2066c\u2069\u202c\u206a": "a\ufffdb\ufffdc\ufffd\ufffd\ufffd",
		"שלום 👩\u200d👧 日本 e\u0301":          "שלום 👩\u200d👧 日本 e\u0301",
	} {
		if got := Clean(text); got != want {
			t.Errorf("Clean(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"":            "''",
		"plain-1.txt": "plain-1.txt",
		"two words":   "'two words'",
		"it's":        `'it'\''s'`,
		"$HOME":       "'$HOME'",
		"a\x1b'b":     `$'a\033\047b'`,
		"über":        "'über'",
	} {
		if got := ShellWord(word); got != want {
			t.Errorf("ShellWord(%q) = %s, want %s", word, got, want)
		}
	}
}
