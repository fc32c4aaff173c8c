package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
)

// random returns n letters of an alphabet, pseudo-random and the same for the same seed.
func random(seed uint64, n int, alphabet string) string {
	var b strings.Builder
	for range n {
		seed = seed*6364136223846793005 + 1442695040888963407
		b.WriteByte(alphabet[seed>>33%uint64(len(alphabet))])
	}
	return b.String()
}

const (
	digits    = "0123456789"
	hex       = digits + "abcdef"
	lower     = "abcdefghijklmnopqrstuvwxyz"
	upper     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnum     = digits + upper + lower
	letters64 = alnum + "+/"
	web       = alnum + "-_"
)

// secrets are secrets in a sentence of a conversation. They are assembled from pieces,
// so that secret scanners do not report this file.
func secrets() []struct{ name, before, secret, after string } {
	pem := "-----BEGIN " + "RSA PRIVATE KEY-----\n" + strings.Repeat(random(1, 64, letters64)+"\n", 6) + "-----END " + "RSA PRIVATE KEY-----"
	jwt := "ey" + random(2, 34, alnum) + ".ey" + random(3, 80, alnum) + "." + random(4, 43, web)
	return []struct{ name, before, secret, after string }{
		{"aws key id", "the id is ", "AKIA" + random(5, 16, upper+"234567"), ", I think"},
		{"aws secret key", "aws_secret_access_key = ", random(6, 40, letters64), "\nregion = eu-west-1"},
		{"aws secret key in the environment", "AWS_SECRET_ACCESS_KEY=", random(60, 40, letters64), " aws s3 ls"},
		{"github token", "it is ", "ghp_" + random(7, 36, alnum), "."},
		{"github fine-grained token", "use ", "github" + "_pat_" + random(8, 82, alnum+"_"), " for it"},
		{"github app token", "git clone https://x-access-token:", "ghs_" + random(9, 36, alnum), "@github.com/a/b"},
		{"gitlab token", "(", "glpat-" + random(10, 20, web), ")"},
		{"openai key", "OPENAI_API_KEY=", "sk-" + "proj-" + random(11, 74, web) + "T3Blbk" + "FJ" + random(12, 74, web), "\n"},
		{"openai key of another form", "my key, ", "sk-" + random(13, 48, alnum), ", does not work"},
		{"anthropic key", "set it to ", "sk-ant-" + "api03-" + random(14, 93, web) + "AA", "."},
		{"openrouter key", "<apiKey>", "sk-or-v1-" + random(15, 64, hex), "</apiKey>"},
		{"groq key", "key: ", "gsk_" + random(16, 52, alnum), ""},
		{"slack bot token", "token=", "xox" + "b-" + random(17, 12, digits) + "-" + random(18, 12, digits) + "-" + random(19, 24, alnum), " in the file"},
		{"slack webhook", "curl ", "https://hooks.slack.com/services/T" + random(20, 10, upper) + "/B" + random(21, 10, upper) + "/" + random(22, 24, alnum), " -d @x"},
		{"stripe key", "stripe.api_key = \"", "sk_" + "live_" + random(23, 24, alnum), "\""},
		{"google key", "&key=", "AI" + "za" + random(24, 35, web), "&q=x"},
		{"google client secret", "client secret ", "GOC" + "SPX-" + random(25, 28, web), ""},
		{"jwt", "Cookie: session=", jwt, "; path=/"},
		{"bearer", "-H 'Authorization: Bearer ", random(26, 40, alnum), "' \\\n"},
		{"private key", "here:\n", pem, "\nthat is all"},
		{"npm", "//registry.example/:_authToken=", "npm" + "_" + random(27, 36, alnum), "\n"},
		{"pypi", "password = ", "py" + "pi-AgEIcHlwaS5vcmc" + random(28, 70, web), "\n"},
		{"connection string", "DATABASE_URL=postgres://app:", "p9" + random(29, 12, alnum) + "!", "@db.internal:5432/app"},
		{"redis url without user", "redis://:", random(30, 20, alnum), "@cache:6379/0"},
		{"short password in a url", "curl ftp://bob:", "k1tty", "@files.example/x"},
		{"vault token", "vault login ", "s." + random(47, 24, alnum), "\n"},
		{"password in .env", "DB_HOST=localhost\nDB_PASSWORD=", "Tr0ub4dor" + "&3$x", "\nDB_USER=app"},
		{"password with a word of names", "DB_PASSWORD=", "SuperSecret" + "Password123", "\n"},
		{"password that ends like a name", "PGPASSWORD=", "prod2024Db" + "Key", " psql"},
		{"password in yaml with a word of names", "password: ", "Hunter" + "Password99", "\n"},
		{"password in yaml that ends like a name", "password: ", "prod2024Db" + "Key", "\n"},
		{"token with a word of names", "export API_TOKEN=", "myProd" + "Token9f8e7d6c5b4a", "\n"},
		{"random token that contains a word", "token: ", "abc" + "Key9Zx8Yw7Vu6Ts5Rq4Po3Nm2Lk1Ji0", "\n"},
		{"client secret that contains a word", "client_secret=", "Zq8" + "Key_93hfkaA8s7dhf2jKs91mA", "\n"},
		{"password in quotes", "export PGPASSWORD='", "c0rrect-horse" + "-battery", "' && psql"},
		{"password in json", `{"user": "x", "password": "`, "hunter2" + "!hunter2", `"}`},
		{"aws secret key that begins with a slash", "AWS_SECRET_ACCESS_KEY: ", "/" + random(42, 39, letters64), "\n"},
		{"password in yaml", "db:\n  user: app\n  password: ", "Xk9#mQ2" + "vL+w", "\n  port: 5432"},
		{"azure", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=", random(43, 86, letters64) + "==", ";EndpointSuffix=core.windows.net"},
		{"docker", `{"auths":{"registry.example":{"auth":"`, random(44, 40, alnum), `"}}}`},
		{"ssh key", "cat ~/.ssh/id_ed25519\n", "-----BEGIN " + "OPENSSH PRIVATE KEY-----\n" + random(45, 70, letters64) + "\n" + random(46, 70, letters64) + "\n-----END " + "OPENSSH PRIVATE KEY-----", "\n$"},
		{"token in yaml", "auth:\n  api_token: ", random(31, 32, alnum), "\n  url: x"},
		{"secret key drawn at random", "SECRET_KEY = \"", random(32, 64, hex), "\""},
		{"oauth secret", "consumer_secret = ", random(61, 40, hex), "\n"},
		{"shared secret", "SharedSecret: \"", random(62, 64, hex), "\","},
		{"hashicorp token", "HASHICORP_TOKEN=", random(63, 40, hex), "\n"},
		{"hugging face", "huggingface-cli login --token ", "hf_" + random(33, 34, lower), "\n"},
		{"digital ocean", "DIGITALOCEAN_TOKEN: ", "dop_v1_" + random(34, 64, hex), "\n"},
		{"sendgrid", "", "SG" + "." + random(35, 22, web) + "." + random(36, 43, web), " is it"},
		{"age", "identity ", "AGE-SECRET-KEY-1" + random(37, 58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"), "\n"},
		{"telegram", "telegram bot token: ", random(38, 9, "123456789") + ":A" + random(39, 34, web), "\n"},
		{"webhook", "stripe listen says ", "whsec_" + random(40, 32, alnum), "."},
		{"supabase", "supabase: ", "sb_" + "secret_" + random(41, 31, web), "\n"},
	}
}

// TestSecrets holds that secrets are found, and that only the secret is removed: in text,
// in a string of JSON, in JSON inside a string of JSON, and in code.
func TestSecrets(t *testing.T) {
	r := New()
	for _, c := range secrets() {
		s := c.before + c.secret + c.after
		text, found := r.Text(s)
		if len(found) == 0 || strings.Contains(text, c.secret) || text != strings.Replace(s, c.secret, "[redacted: "+found[0].Rule+"]", 1) {
			t.Errorf("%s: Text(%q) = %q, %v", c.name, s, text, found)
			continue
		}
		if rest := text[found[0].At:]; !strings.HasPrefix(rest, "[redacted: "+found[0].Rule+"]") {
			t.Errorf("%s: it was found before %q", c.name, rest)
		}
		if again, more := r.Text(text); again != text {
			t.Errorf("%s: of %q was found %v", c.name, text, more)
		}
		doc := any(s)
		for range 3 {
			raw, err := json.Marshal(map[string]any{"a": 1, "text": doc, "z": []any{"after", s}})
			if err != nil {
				t.Fatal(err)
			}
			out, found, err := r.JSON(raw)
			if err != nil || len(found) < 2 || !json.Valid(out) || leaks(string(out), c.secret) {
				t.Errorf("%s: JSON(%s) = %s, %v, %v", c.name, raw, out, found, err)
			}
			doc = string(raw)
		}
		quoted, _ := json.Marshal("x\n" + s)
		if text, found := r.Text(fmt.Sprintf("it printed %q", quoted)); len(found) == 0 || leaks(text, c.secret) {
			t.Errorf("%s: quoted twice: %q, %v", c.name, text, found)
		}
	}
}

// TestExact holds that punctuation counts for the rules whose expressions need it.
func TestExact(t *testing.T) {
	r := New()
	secret := "sk_" + random(48, 12, alnum) + "#P7r5&@*)" + random(49, 8, alnum)
	for s, want := range map[string]string{
		`"secret_key" => "` + secret + `",`:                                          `"secret_key" => "[redacted: freemius-secret-key]",`,
		"kind: Secret\ndata:\n  pass: aGVsbG8gd29ybGQ=\n":                            "kind: Secret\ndata:\n  [redacted: kubernetes-secret-yaml]\n",
		"kind: Secret\ndata:\n  pass: {{ pass }}\n--- \nkind: ReplicationController": "kind: Secret\ndata:\n  pass: {{ pass }}\n--- \nkind: ReplicationController",
	} {
		if text, _ := r.Text(s); text != want {
			t.Errorf("Text(%q) = %q", s, text)
		}
	}
}

// leaks reports whether s has a substantial part of a secret.
func leaks(s, secret string) bool {
	const n = 12
	for i := 0; i+n <= len(secret); i++ {
		if strings.Contains(s, secret[i:i+n]) {
			return !strings.Contains("-----BEGIN RSA PRIVATE KEY-----END RSA PRIVATE KEY-----", secret[i:i+n])
		}
	}
	return len(secret) < n && strings.Contains(s, secret)
}

// TestRules holds that all rules are usable.
func TestRules(t *testing.T) {
	r := New()
	if len(r.rules) < 200 {
		t.Errorf("only %d rules", len(r.rules))
	}
	ids := map[string]bool{}
	for _, one := range r.rules {
		one.compile()
		if ids[one.ID] || strings.Trim(one.ID, lower+digits+"-") != "" {
			t.Errorf("%q is a duplicate, or cannot be part of a replacement", one.ID)
		}
		ids[one.ID] = true
		if one.Group > one.re.NumSubexp() || len(one.Keywords) == 0 != one.byDots {
			t.Errorf("%s has no group %d, or no keyword", one.ID, one.Group)
		}
		for _, word := range one.Keywords {
			if len(word) < 2 || word != strings.ToLower(word) {
				t.Errorf("%s has the keyword %q", one.ID, word)
			}
		}
		allows(one.Allowed, []byte("x"), []int{0, 1}, []byte("x"))
	}
	allows(r.allowed, []byte("x"), []int{0, 1}, []byte("x"))
}

// TestLeft holds that text that is not secret is kept, in prose and as a value in JSON.
func TestLeft(t *testing.T) {
	sum := func(n int) string { return random(50, n, hex) }
	b64 := random(51, 4000, letters64)
	r := New()
	for _, s := range []string{
		"",
		"key",
		"The token is checked first; a secret is what only two know, and the password is theirs.",
		"commit " + sum(40),
		"cache key: " + sum(64),
		`"key": "` + sum(32) + `"`,
		"token_hash = \"" + sum(64) + "\"",
		"tokenHashes: [\"" + sum(64) + "\"]",
		"SECRET_SHA256SUM=" + sum(64),
		"api_token.tree: " + sum(40),
		"sha256:" + sum(64) + " auth.go",
		"api_key_id: 5f8e9d20-7f0e-4b7c-9d55-1c5a4e4e6f10",
		"<tool-use-id>toolu_01" + random(52, 22, alnum) + "</tool-use-id>",
		`"tool_call_key": "call_` + random(53, 24, alnum) + `"`,
		"message key: msg_" + random(54, 24, alnum),
		"g++ -o x x.cc $(mysql_config --libs) mysql -pthread -pipe",
		"data:image/png;base64," + b64,
		"key: " + b64,
		`{"type":"thinking","thinking":"","signature":"` + b64 + `"}`,
		"golang.org/x/oauth2 v0.35.0 h1:" + random(55, 43, letters64) + "=",
		`"integrity": "sha512-` + random(56, 86, letters64) + `=="`,
		"pip/_internal/network/auth.py,sha256=" + random(57, 43, web) + ",16507",
		`apiKey: process.env.OPENAI_API_KEY_2`,
		`key := strings.TrimSpace(os.Getenv("API_KEY"))`,
		"PrivateKey:  testEd25519PrivateKey,",
		"PrivateKey: testRSA2048PrivateKey,",
		"{hexKey: hexPKCS8TestPKCS1Key, errorContains: x},",
		"dk.encryptionKey1024 = newEncryptionKey1024(b)",
		"var obj1KeysLength = obj1Keys.length;",
		`"model_key": "claude-sonnet-4-20250514"`,
		"page_token=" + random(58, 30, alnum),
		"OPENAI_API_KEY=sk-...",
		"OPENAI_API_KEY=your-key-here-1234",
		"ANTHROPIC_API_KEY=$ANTHROPIC_API_KEY ./run",
		"GITHUB_TOKEN=${{ secrets.GITHUB_TOKEN }}",
		"DB_PASSWORD=<your password here>",
		"TOKEN_FILE=/run/secrets/token",
		`"API_KEY="+os.Getenv("KEY")+"`,
		"postgres://user:password@localhost/db",
		"http://example.com:8080/a?b=c@d",
		"github.com/hashicorp/vault/api,v1.0.4-0.20190305190045-9a8b7c6d5e4f,h1:" + random(59, 43, letters64) + "=",
		"return cryptRSA(priv.withKey, rsaPKCS1Padding2, h)",
		`{"a-token-plan.json":"` + sum(64) + `"}`,
		"it acts like s.readUint16LengthPrefixed, but",
		"password: string",
		"password = hash(password1)",
		"password: req.body.password2,",
		"the password: it is checked first, in line 1234",
		"const password = user.password1;",
		"password_hash_v1: bcrypt",
		`password: "required|string"`,
		`<input type="password" name="password" placeholder="Password">`,
		"AKIAIOSFODNN7EXAMPLE",
		"Authorization: Bearer $TOKEN",
		`curl -H "Authorization: Bearer $GITHUB_TOKEN" https://api.github.com`,
		"git log --author=x --format=%H | head -1; export PATH=$PATH:/usr/local/go/bin",
		"sk-toggleable__content sk-estimator-doc-link sk-container-with-many-words-in-it",
		"[redacted: generic-api-key], and the next one",
	} {
		if text, found := r.Text(s); text != s {
			t.Errorf("Text(%.200q) = %.200q, %v", s, text, found)
		}
		raw, err := json.Marshal([]any{s, map[string]any{"text": s, "arguments": fmt.Sprintf(`{"x":%q}`, s)}})
		if err != nil {
			t.Fatal(err)
		}
		if out, found, err := r.JSON(raw); err != nil || string(out) != string(raw) {
			t.Errorf("JSON(%.200q) = %.200q, %v, %v", raw, out, found, err)
		}
	}
}

// TestJSON holds that a key gives the context of its value, that secrets in keys are
// removed too, and that all other bytes stay the same.
func TestJSON(t *testing.T) {
	r := New()
	key, pw := "ghp_"+random(70, 36, alnum), "Tr0ub4dor&3"
	for _, c := range []struct{ doc, want string }{
		{`{"password" : "` + pw + `"}`, `{"password" : "[redacted: password]"}`},
		{`{"api_key":["` + random(71, 32, alnum) + `"], "id":"` + random(71, 32, alnum) + `"}`, `{"api_key":["[redacted: generic-api-key]"], "id":"` + random(71, 32, alnum) + `"}`},
		{`{"` + key + `":  NaN, "a":"\u0041\/\ud83d\ude00` + key + `\ud800"}` + "\n", `{"[redacted: github-pat]":  NaN, "a":"\u0041\/\ud83d\ude00[redacted: github-pat]\ud800"}` + "\n"},
		{`{"\\\"/home/` + strings.ReplaceAll(key, "p", `\u0070`) + `.txt":{"` + key + `": 1}}`, `{"\\\"/home/[redacted: github-pat].txt":{"[redacted: github-pat]": 1}}`},
		{`"` + strings.ReplaceAll(key, "p", `\u0070`) + `"`, `"[redacted: github-pat]"`},
		{`{"arguments":"{\"cmd\":\"echo\\n` + key + `\"}"}`, `{"arguments":"{\"cmd\":\"echo\\n[redacted: github-pat]\"}"}`},
		{`{"arguments":"{\"password\":\"` + pw + `\"}"}`, `{"arguments":"{\"password\":\"[redacted: password]\"}"}`},
		{`{"torn":"{\"cmd\":\"echo\\n` + key + `"}`, `{"torn":"{\"cmd\":\"echo\\n[redacted: github-pat]"}`},
		{`[1e400, true, null, "", {}]`, `[1e400, true, null, "", {}]`},
	} {
		out, found, err := r.JSON([]byte(c.doc))
		if err != nil || string(out) != c.want {
			t.Errorf("JSON(%s) = %s, %v, %v", c.doc, out, found, err)
		}
	}
	for _, bad := range []string{"", "{", `{"a":"` + key + `"`, "\"\xff\""} {
		if out, _, err := r.JSON([]byte(bad)); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("JSON(%q) = %q, %v", bad, out, err)
		}
	}
}

// TestMany holds that secrets next to each other are all found.
func TestMany(t *testing.T) {
	var s, want strings.Builder
	for i := range 50 {
		fmt.Fprintf(&s, "API_TOKEN=%s\n", random(uint64(100+i), 32, alnum))
		want.WriteString("API_TOKEN=[redacted: generic-api-key]\n")
	}
	r := New()
	got, found := r.Text(s.String())
	if got != want.String() || len(found) != 50 {
		t.Errorf("%d found: %s", len(found), got)
	}
}

// FuzzJSON holds the laws: redacted JSON is JSON with the same bytes outside of the
// findings, and redacting it again finds nothing.
func FuzzJSON(f *testing.F) {
	r := New()
	for _, c := range secrets() {
		raw, err := json.Marshal(map[string]string{"text": c.before + c.secret + c.after})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add([]byte(c.before + c.secret + c.after))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, found := r.Text(string(data))
		kept(t, string(data), text, found)
		if again, more := r.Text(text); again != text {
			t.Errorf("a second time of %q was found %v: %q", text, more, again)
		}
		doc := data
		if rawjson.Check(doc) != nil {
			doc = rawjson.Compact(map[string]any{"text": string(data), "password": []string{string(data)}})
		}
		out, found, err := r.JSON(doc)
		if err != nil || rawjson.Check(out) != nil {
			t.Fatalf("JSON(%q) = %q, %v", doc, out, err)
		}
		kept(t, string(doc), string(out), found)
	})
}

// kept fails the test unless s and redacted are the same outside of the replacements.
func kept(t *testing.T, s, redacted string, found []Finding) {
	t.Helper()
	at := 0
	for _, x := range found {
		piece := redacted[at:x.At]
		i := strings.Index(s, piece)
		if i < 0 || at == 0 && i > 0 {
			t.Fatalf("%q is not in the original text, %q", piece, s)
		}
		s = s[i+len(piece):]
		at = x.At + len("[redacted: ]") + len(x.Rule)
	}
	if !strings.HasSuffix(s, redacted[at:]) || len(found) == 0 && s != redacted {
		t.Fatalf("%q is not the end of %q", redacted[at:], s)
	}
}
