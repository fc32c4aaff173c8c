package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// isKeyBlock reports whether the text between the first and the last line of s consists
// mostly of the letters of a key, rather than prose that mentions such lines.
func isKeyBlock(s []byte, start, end int) bool {
	const line, least = 16, 64
	_, body, _ := bytes.Cut(s[start:end], []byte("KEY"))
	letters, run := 0, 0
	for i := 0; i <= len(body); i++ {
		if i < len(body) && isBase64(body[i]) {
			run++
			continue
		}
		if run >= line {
			letters += run
		}
		run = 0
	}
	return letters >= least && letters >= len(body)/4
}

// isLogin reports whether s[start:end] is user:password in base64.
func isLogin(s []byte, start, end int) bool {
	login, ok := decoded(s[start:end])
	if !ok {
		return false
	}
	user, password, ok := bytes.Cut(login, []byte(":"))
	return ok && len(user) > 0 && len(password) > 2 && !bytes.ContainsAny(login, "\r\n") && !isPlaceholder(password)
}

// isBotToken reports whether the first part of a token is a number in base64, as the id of
// an account of Discord is.
func isBotToken(s []byte, start, end int) bool {
	id, _, _ := bytes.Cut(s[start:end], []byte("."))
	number, ok := decoded(id)
	return ok && strings.Trim(string(number), "0123456789") == ""
}

// isSharedAccess reports whether the URL around s[start:end] has the other parameters of
// an Azure shared access signature.
func isSharedAccess(s []byte, start, end int) bool {
	const most = 1000
	from, to := max(0, start-most), min(len(s), end+most)
	if i := bytes.LastIndexAny(s[from:start], " \t\r\n\"'`<>"); i >= 0 {
		from += i
	}
	if i := bytes.IndexAny(s[end:to], " \t\r\n\"'`<>"); i >= 0 {
		to = end + i
	}
	url := s[from:to]
	for _, name := range []string{"sv=", "se=", "sr=", "sp="} {
		if bytes.Contains(url, []byte(name)) {
			return true
		}
	}
	return false
}

// isDrawn reports whether s[start:end] looks random: it has digits, and
// punctuation like a random string, and calls no function.
func isDrawn(s []byte, start, end int) bool {
	v := strings.TrimPrefix(string(s[start:end]), "django-insecure-")
	for _, begin := range []string{"$", "{{", "<", "%(", "[redacted"} {
		if strings.HasPrefix(v, begin) && strings.ContainsAny(v[len(begin):], "}>)]") {
			return false
		}
	}
	return len(v) >= 16 && entropy([]byte(v)) > 3.5 && strings.ContainsAny(v, "0123456789") && !isCode(v) && !isPlaceholder([]byte(v))
}

var call = pattern{expr: `^[\w.]+[(\[]`}

// isCode reports whether v calls a function, or is a variable.
func isCode(v string) bool { return call.compiled().MatchString(v) || isPath(v) }

// isOption reports whether s[start:end] is a password argument of a command, and not a
// placeholder or another option.
func isOption(s []byte, start, end int) bool {
	v := string(s[start:end])
	switch v {
	case "thread", "ipe", "edantic", "edantic-errors", "rompt", "g", "ort", "rotocol", "assword":
		return false
	}
	return !isPlaceholder(s[start:end]) && !strings.HasPrefix(v, "-") && !isCode(v) && !strings.ContainsAny(v[:1], "|&;>=,.)\\")
}

// isLoginPassword is isOption where "login and password" may be words.
func isLoginPassword(s []byte, start, end int) bool {
	before := bytes.Fields(s[max(0, start-200):start])
	n := len(before)
	return isOption(s, start, end) && (n < 2 || !bytes.Equal(before[n-2], []byte("and")) && !bytes.Equal(before[n-2], []byte("or")))
}

// isSecretOption reports whether s[start:end] is a secret: the option names it, and it
// does not look like a word.
func isSecretOption(s []byte, start, end int) bool {
	v := string(s[start:end])
	return isOption(s, start, end) && strings.ContainsAny(v, "0123456789") && !strings.ContainsAny(v, "/\\(){}<>$") && !isName(v) && !numbered.compiled().MatchString(v)
}

var numbered = pattern{expr: `^[A-Za-z]+(?:[-_.][A-Za-z]+|[-_.]?v?\d{1,4})*$`}

// isTold reports whether s[start:end] is a password in a sentence that states
// it, and not a description of a password. If it is quoted, any other word is a
// password; if not, only if the speaker calls it their own.
func isTold(s []byte, start, end int) bool {
	v := strings.TrimRight(entities.compiled().ReplaceAllString(string(s[start:end]), ""), ".")
	switch {
	case len(v) < 4 || isPlaceholder([]byte(v)) || isCode(v) || strings.Contains(v, "://"):
		return false
	case strings.Trim(v, "0123456789") == "":
		return len(v) >= 6 || len(v) >= 4 && !countsSomething(s[end:])
	case strings.HasPrefix(v, "./") || strings.HasPrefix(v, "/") || strings.HasPrefix(v, "~/"):
		return false
	}
	lower := strings.ToLower(v)
	if about.compiled().MatchString(lower) {
		return false
	}
	quoted := start > 0 && strings.IndexByte("\"'`", s[start-1]) >= 0
	if strings.ContainsAny(v, "0123456789") || strings.ContainsAny(strings.Trim(v, "'*_"), "!@#$%^&*+=~?") {
		return !strings.ContainsAny(v, "()[]{}<>|") || quoted
	}
	if strings.Count(v, "-") >= 3 {
		return true // the words of a passphrase
	}
	word := strings.Trim(lower, "abcdefghijklmnopqrstuvwxyz") == ""
	if !word || strings.HasSuffix(lower, "ly") {
		return false
	}
	said := string(bytes.ToLower(s[max(0, start-60):start]))
	return (quoted || sayer.compiled().MatchString(said) && ends(s, end+1)) && !described(lower)
}

var (
	entities = pattern{expr: `&(?:[a-z]+|#\d+);?\w?`}
	sayer    = pattern{expr: `\b(?:my|our|his|her|their) (?:[\w-]+ ){0,2}(?:pass\w*|pwd|pin) (?:is|was) (?:now )?$`}
	about    = pattern{expr: `^(?:v?\d+(?:[.-]\d+)*(?:-?(?:bits?|bytes?|chars?|characters?|digits?|letters?|days?|hours?|years?))?|(?:base|utf|sha|md|pbkdf|argon|rot|ascii|bcrypt|scrypt|x|rsa|aes|des|oauth|http|tls|ipv)-?\d+\w*(?:-\w+)*|2fa|mfa|line-?\d+|[\w-]+\.(?:go|py|js|ts|txt|env|json|ya?ml|md|rb|rs|java|c|h|toml|conf|cfg|ini)(?::\d+)?|[a-z_]+(?:_[a-z0-9]+)+)$`}
)

// countsSomething reports whether s, the text after a number, is its unit.
func countsSomething(s []byte) bool {
	word := bytes.TrimLeft(s, " -")
	return len(word) < len(s) && len(word) > 0 && word[0] >= 'a' && word[0] <= 'z'
}

// described reports whether a word describes a password.
func described(word string) bool {
	for _, end := range []string{"ed", "ing", "able", "ible", "ive", "less", "ful", "ous", "ic", "al", "ary"} {
		if len(word) > len(end)+2 && strings.HasSuffix(word, end) {
			return true
		}
	}
	return slices.Contains(strings.Fields(`
		wrong correct incorrect right weak strong empty blank short long null none true false valid invalid mandatory
		secure insecure safe unsafe plain plaintext unknown fine good same here there below above over under between old
		sent kept held lost gone stale hers mine yours theirs ours that this text string strings bytes char chars hash hashes
		random static different easy hard simple complex enough present absent also then still okay just only what when
		where which about after again always never often with without from into like very really quite more less most
		than them they your some such another other each every exactly nothing something anything everything stdin
		unset reset default false nil undefined void yes maybe done okay case known easier harder longer shorter better worse
		weaker stronger expired hidden taken given shown stolen forgotten broken written chosen known unchanged identical`), word)
}

// decoded returns the decoded base64 text, and false if it is not text.
func decoded(s []byte) ([]byte, bool) {
	b := make([]byte, base64.RawStdEncoding.DecodedLen(len(s)))
	n, err := base64.RawStdEncoding.Decode(b, bytes.TrimRight(s, "="))
	return b[:n], err == nil && isText(b[:n])
}

// isText reports whether b is text without control characters but for white space.
func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(b)
}
