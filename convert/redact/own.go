package redact

import (
	"bytes"
	"slices"
	"strings"
)

// ownRules returns the rules that gitleaks does not have.
func ownRules() []*rule {
	rules := []*rule{{
		// postgres://user:PASSWORD@host
		ID:       "url-password",
		Regexp:   `\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/?#@"'<>]{0,100}:([^\s/?#@"'<>]{3,200})@[\w.\[-]`,
		Keywords: []string{"://"},
		anyWord:  true,
	}, {
		// Authorization: Bearer TOKEN, anywhere
		ID:       "authorization-header",
		Regexp:   `(?i)\b(?:bearer|authorization["']{0,2}[ \t]{0,5}[:=][ \t"']{0,5}(?:basic|token|digest|apikey))[ \t]{1,5}([\w~+/.=-]{16,1000})`,
		Entropy:  3.5,
		Keywords: []string{"bearer", "authorization"},
		noName:   true,
		byName:   true,
	}, {
		// DB_PASSWORD=... in a file of the environment, or in a command
		ID: "environment-secret",
		Regexp: `(?:^|[\s"'` + "`" + `;])(?:[A-Z][A-Z0-9_]{0,60})?(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|SECRET_KEY|SECRET_KEY_BASE|TOKEN|API_KEY|APIKEY|PRIVATE_KEY|ACCESS_KEY)(?:_?\d{1,2})?=` +
			`(?:"([^"\s$+&][^"\s]{7,300})"|'([^'\s$+&][^'\s]{7,300})'|([^\s"'` + "`" + `$<>(){}|;\]][^\s"'` + "`" + `<>(){}|;]{7,300}))`,
		Entropy:  2.5,
		Keywords: []string{"passw", "passp", "secret", "token", "api_key", "apikey", "private_key", "access_key"},
		Allowed:  []*allow{{Regexps: []string{`^[~.]?/[\w.-]+(?:/[\w.-]+)*$`, `^https?://`}}},
		byName:   true,
		anyWord:  true,
	}, {
		// "password": "..." in a configuration
		ID:       "password",
		Regexp:   `(?i)(?:password|passwd|passphrase|passwort|pwd)[ \t"']{0,16}(?::|=>?|:=)[ \t]{0,16}(?:"([^"\s]{6,100})[ ]{0,16}"|'([^'\s]{6,100})[ ]{0,16}'|([^\s"'` + "`" + `,;<>(){}\[\]|$%#*\\][^\s"'` + "`" + `,;<>(){}\[\]|]{5,100}))`,
		Entropy:  2.5,
		Keywords: []string{"passw", "passp", "pwd"},
		Allowed:  []*allow{{Regexps: []string{`^[A-Za-z_./:-]*$`, `^[\w.]+[(\[{]`, `[({<]\w`, `^[^0-9]*$`}}},
		byName:   true,
		anyWord:  true,
	}, {
		// keys of model providers, of which gitleaks knows only some forms
		ID:       "model-api-key",
		Regexp:   `\b(sk-(?:[a-z]{2,8}(?:-v\d|-api\d\d|\d\d)?-)?[A-Za-z0-9_-]{28,200}|gsk_[A-Za-z0-9]{40,80}|xai-[A-Za-z0-9]{60,120}|pplx-[A-Za-z0-9]{40,80}|r8_[A-Za-z0-9]{30,60}|tvly-[A-Za-z0-9-]{24,60})`,
		Entropy:  3.7,
		Keywords: []string{"sk-", "gsk_", "xai-", "pplx-", "r8_", "tvly-"},
		Allowed:  []*allow{{Regexps: []string{`^[a-z_-]+$`, `^sk-[a-z]+(?:[_-]+[a-z]+)*$`}}},
	}, {
		// gitleaks ignores a key that begins with a slash
		ID:       "aws-secret-key",
		Regexp:   `(?i)(?:aws_?secret(?:_?access)?_?key|secret_?access_?key)[ \t"']{0,16}[:=][ \t"']{0,16}([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`,
		Entropy:  4,
		Keywords: []string{"secret_access_key", "secretaccesskey", "aws_secret", "awssecret"},
		Allowed:  []*allow{{Words: []string{"example"}}},
	}, {
		ID:       "google-oauth",
		Regexp:   `\b(GOCSPX-[A-Za-z0-9_-]{24,40}|ya29\.[A-Za-z0-9_-]{30,500}|1//0[A-Za-z0-9_-]{30,200})`,
		Entropy:  3.5,
		Keywords: []string{"gocspx-", "ya29.", "1//0"},
	}, {
		ID:       "supabase-secret",
		Regexp:   `\b(sb_secret_[A-Za-z0-9_-]{20,100}|sbp_[a-f0-9]{40})`,
		Entropy:  3,
		Keywords: []string{"sb_secret_", "sbp_"},
	}, {
		ID:       "webhook-secret",
		Regexp:   `\b(whsec_[A-Za-z0-9+/=]{24,100})`,
		Entropy:  3.5,
		Keywords: []string{"whsec_"},
	}}
	rules = append(rules, placeRules()...)
	for _, r := range rules {
		r.own = true
	}
	return rules
}

// isID reports whether name is a name for an id or a hash, which are common and rarely
// secret.
func isID(name, secret []byte) bool {
	v, before := string(secret), string(bytes.ToLower(name))
	contains := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(before, word) })
	}
	for _, begin := range []string{
		"toolu_", "srvtoolu_", "call_", "msg_", "req_", "resp_", "chatcmpl-", "fc_", "rs_", "ws_", "run_",
		"thread_", "ses_", "prt_", "session_", "sha1-", "sha256-", "sha384-", "sha512-", "sha256:",
	} {
		if strings.HasPrefix(v, begin) {
			return true
		}
	}
	switch {
	case strings.Contains(before, ",") && !strings.ContainsAny(before[len(before)-1:], "\"'`"):
		return true // a list, or a row of a table
	case strings.HasSuffix(before, "h1:") || strings.HasSuffix(before, "sha256=") || contains("page_token", "pagetoken", "cursor"):
		return true
	case isPath(v):
		return true
	case strings.HasSuffix(strings.TrimRight(before, ": \t"), "key") && isVariable(v):
		return true
	case !isHex(strings.ReplaceAll(v, "-", "")):
		return false
	case len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-':
		return true
	case strings.Contains(v, "-"), len(v) != 32 && len(v) != 40 && len(v) != 64 && len(v) != 128:
		return false
	}
	// Hashes and random keys have this length.
	isHash := slices.ContainsFunc([]string{"hash", "sum", "sha", "digest", "commit", "etag", "md5", "tree", "revision", "fingerprint"}, func(word string) bool {
		return hasWord(string(name), word)
	})
	return isHash || contains("_id", ".json") ||
		!contains("secret", "token", "api_key", "apikey", "api-key", "private", "credential", "bearer")
}

// isName reports whether v looks like words and numbers, as the names of models and
// variables do, rather than random: its words are long, and separated.
func isName(v string) bool {
	const word, longestNumber = 4, 8
	letters, words, run, apart := 0, 0, 0, false
	last := byte(0)
	for i := range len(v) {
		kind := byte('-')
		switch c := v[i]; {
		case c >= 'a' && c <= 'z':
			kind = 'a'
		case c >= 'A' && c <= 'Z':
			kind, apart = 'A', true
		case c >= '0' && c <= '9':
			kind = '0'
		case strings.IndexByte("-_./", c) >= 0:
			apart = true
		default:
			return false
		}
		if run++; kind != last {
			if kind != '-' && !(last == 'A' && kind == 'a' && run == 2) { // Word is one
				words++
			}
			run = 1
		}
		if kind != '-' {
			letters++
		}
		if kind == '0' && run > longestNumber {
			return false
		}
		last = kind
	}
	return apart && letters >= word*words
}

// isPath reports whether v is a variable of something: config.keys.main2.
func isPath(v string) bool {
	const longest = 24
	pieces := strings.Split(v, ".")
	for _, p := range pieces {
		if p == "" || len(p) > longest || p[0] <= '9' || strings.Trim(strings.ToLower(p), "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return false
		}
	}
	return len(pieces) > 1
}

// hasWord reports whether a word of name ends with word or its plural: checksum ends with sum,
// and consumer does not.
func hasWord(name, word string) bool {
	lower := strings.ToLower(name)
	if len(lower) != len(name) {
		return strings.Contains(lower, word)
	}
	for at := 0; ; {
		i := strings.Index(lower[at:], word)
		if i < 0 {
			return false
		}
		at += i + len(word)
		rest := name[at:]
		for _, plural := range []string{"es", "s", "ES", "S"} {
			if after, ok := strings.CutPrefix(rest, plural); ok {
				rest = after
				break
			}
		}
		last := name[len(name)-len(rest)-1]
		goesOn := rest != "" && (isLower(rest[0]) || isUpper(rest[0]) && isUpper(last))
		if !goesOn {
			return true
		}
	}
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

var variable = pattern{expr: `^[a-z]{2,}(?:[A-Z]+[a-z]*\d{0,5})*Key$`}

// isVariable reports whether v is a variable that is named after the key it holds:
// testRSA2048PrivateKey. It has no more digits than an algorithm, and nothing after its
// last word: keys and passwords may contain such words.
func isVariable(v string) bool { return variable.compiled().MatchString(v) }

// isPlaceholder reports whether a password is a placeholder from an example.
func isPlaceholder(secret []byte) bool {
	v := strings.ToLower(string(secret))
	for _, word := range []string{"pass", "password", "passwd", "pwd", "secret", "token", "user", "username"} {
		if v == word {
			return true
		}
	}
	for _, piece := range []string{"...", "…", "***", "xxxx", "your", "example", "placeholder", "changeme", "change-me", "change_me", "redacted", "dummy", "os.environ", "process.env", "getenv", "required", "string"} {
		if strings.Contains(v, piece) {
			return true
		}
	}
	return strings.ContainsAny(v[:1], "<{$%[(") || strings.Trim(v, v[:1]) == ""
}
