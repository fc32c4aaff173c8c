package redact

import (
	b64 "encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pemLines returns the lines of a private key.
func pemLines(seed uint64) []string {
	lines := []string{"-----BEGIN " + "RSA PRIVATE KEY-----"}
	for i := range 5 {
		lines = append(lines, random(seed+uint64(i), 64, letters64))
	}
	return append(lines, random(seed+9, 21, letters64)+"=", "-----END "+"RSA PRIVATE KEY-----")
}

// A planted is a secret in its context, and the rule that finds it.
type planted struct{ name, before, secret, after, rule string }

// plantedSecrets are secrets that only their context marks.
func plantedSecrets() []planted {
	encode := b64.StdEncoding.EncodeToString
	pem := strings.Join(pemLines(200), "\n")
	django := "^@" + random(210, 44, lower+digits+"!@#$%^&*(-_=+)") + "7"
	return []planted{
		{"docker", `{"auths":{"registry.example":{"auth": "`, encode([]byte("ada:c0rrect-horse")), `"}}}`, "docker-auth"},
		{"docker, short", `"auth": "`, encode([]byte("ada:tr0ub")), `"`, "docker-auth"},
		{"npm", "//registry.example/:_auth=", encode([]byte("ada:c0rrect-horse")), "\n", "docker-auth"},
		{"discord", "it is ", encode([]byte("312345678901234567")) + "." + random(211, 6, web) + "." + random(212, 38, alnum), "", "discord-bot-token"},
		{"discord in code", `client.login("`, encode([]byte("1123456789012345678"))[:26] + "." + random(213, 6, alnum) + "." + random(214, 38, alnum), `")`, "discord-bot-token"},
		{"telegram", "it is ", "7123456789:" + "AA" + random(215, 33, web), ", I think", "telegram-bot-token"},
		{"telegram in a url", "curl https://api.telegram.org/bot", "712345678:" + "AA" + random(216, 33, alnum), "/getMe", "telegram-bot-token"},
		{"azure", "https://x.blob.example/c/f?sv=2024-11-04&se=2026-01-01T00%3A00%3A00Z&sr=b&sp=r&sig=", random(217, 43, alnum) + "%3D", " works", "azure-sas"},
		{"azure, signature first", "https://x.blob.example/c?sig=", random(218, 20, alnum) + "%2B" + random(219, 20, alnum) + "%3D", "&se=2026-01-01&sv=2024-11-04", "azure-sas"},
		{"django", "SECRET_KEY = '", django, "'\n", "secret-key"},
		{"django, with an ampersand", "SECRET_KEY = '", "^@9x$k!q(7w&z*3e_r=t+u8#v5b2n", "'\n", "secret-key"},
		{"django, marked", `SECRET_KEY = "`, "django-" + "insecure-" + django, "\"\nDEBUG = True", "secret-key"},
		{"django in the environment", "DEBUG=1\nSECRET_KEY=", "k" + django, "\nX=1", "secret-key"},
		{"netrc", "machine api.example login ada password ", "hunter2", "\n", "netrc-password"},
		{"netrc, lines", "machine api.example\n  login ada\n  password ", "swordfish", "\n", "netrc-password"},
		{"pgpass", "db.internal:5432:shop:ada:", "c0rrect!horse", "\n", "pgpass-password"},
		{"pgpass, any", "*:*:*:postgres:", "swordfish", "\n", "pgpass-password"},
		{"mysql", "mysql -h db.internal -u root -p", "hunter2", " shop", "command-password"},
		{"mysql, quoted", "mysql -u root -p'", "hun ter2", "' shop", "command-password"},
		{"mysqldump", "mysqldump -uroot -p", "c0rrect", " --all-databases > x.sql", "command-password"},
		{"sshpass", "sshpass -p ", "hunter2", " ssh ada@host", "command-password"},
		{"redis", "redis-cli -h cache -a ", "hunter2", " ping", "command-password"},
		{"docker login", "docker login -u ada -p ", "hunter2!", " registry.example", "command-password"},
		{"option", "restic --password ", "c0rrect-h0rse", " backup", "option-secret"},
		{"wrapped key", "  tls.key: ", encode([]byte(pem + "\n")), "\n  tls.crt: x", "private-key"},
		{"wrapped environment", "echo ", encode([]byte("DB_HOST=db.internal\nDB_PASSWORD=" + "Tr0ub4dor" + "&3$x\n")), " | base64 -d > .env", "environment-secret"},
		{"short password", "user: ada\npassword: ", "hunter2", "\n", "password"},
		{"said", "my password is ", "hunter2", "", "told-password"},
		{"said, at the end", "Log in as ada, the password is ", "hunter2", ". Then stop.", "told-password"},
		{"said, quoted", "The password for the database is `", "swordfish", "`, please", "told-password"},
		{"said, a word", "my password is ", "swordfish", ", you know", "told-password"},
		{"said, a passphrase", "the passphrase is ", "correct-horse-battery-staple", "\n", "told-password"},
		{"said, changed", "The admin password was changed. The password is now ", "Tr0ub4dor" + "&3", ".", "told-password"},
		{"said, in German", "das Passwort ist ", "hunter2", ".", "told-password"},
	}
}

// TestPlanted holds that secrets marked only by their context are found, in text and in
// any quoting of a program.
func TestPlanted(t *testing.T) {
	r := New()
	for _, c := range plantedSecrets() {
		s := c.before + c.secret + c.after
		want := c.before + "[redacted: " + c.rule + "]" + c.after
		if got, found := r.Text(s); got != want {
			t.Errorf("%s: Text(%q) = %q, %v", c.name, s, got, found)
			continue
		}
		if again, found := r.Text(want); again != want {
			t.Errorf("%s: a second time %v: %q", c.name, found, again)
		}
		once, _ := json.Marshal(s)
		twice, _ := json.Marshal(string(once))
		indented := strings.ReplaceAll(s, "\n", "\n    ")
		for _, quoted := range []string{
			"```\n" + s + "\n```",
			"run " + string(once),
			"run " + string(twice),
			fmt.Sprintf("%q", "{\"cmd\":"+string(once)+"}"),
			"text: |\n    " + indented + "\nnext: 1\n",
			"cat <<'EOF' > f\n" + s + "\nEOF\n",
			"+" + strings.ReplaceAll(s, "\n", "\n+"),
			"<pre>\n" + s + "\n</pre>",
			"<details>\n" + html.EscapeString(s) + "\n</details>",
			"<details arguments=\"" + html.EscapeString(string(once)) + "\">",
		} {
			if got, _ := r.Text(quoted); leaks(got, c.secret) {
				t.Errorf("%s: Text(%q) = %q", c.name, quoted, got)
			}
		}
		for name, e := range signEscapes() {
			quoted := "run: " + e.escape(s)
			if got, _ := r.Text(quoted); leaks(e.plain(got), c.secret) {
				t.Errorf("%s: with %s, Text(%q) = %q", c.name, name, quoted, got)
			}
		}
		doc := any(s)
		for range 4 {
			raw, err := json.Marshal(map[string]any{"text": doc, "parts": []any{map[string]any{"type": "text", "text": s}, s}})
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := r.JSON(raw)
			if err != nil || !json.Valid(out) || leaks(string(out), c.secret) {
				t.Errorf("%s: JSON(%s) = %s, %v", c.name, raw, out, err)
			}
			doc = string(raw)
		}
	}
}

// TestPlantedTwice holds that a secret does not hide the same kind of secret on the next line.
func TestPlantedTwice(t *testing.T) {
	r := New()
	for _, c := range plantedSecrets() {
		s := strings.TrimSuffix(c.before+c.secret+c.after, "\n")
		want := strings.TrimSuffix(c.before+"[redacted: "+c.rule+"]"+c.after, "\n")
		for _, n := range []int{2, 3, 6} {
			in, clean := strings.Repeat(s+"\n", n), strings.Repeat(want+"\n", n)
			if got, _ := r.Text(in); got != clean {
				t.Errorf("%s, %d times: Text(%q) = %q", c.name, n, in, got)
			}
		}
	}
}

// A signEscape is a way to write the signs of a text.
type signEscape struct{ escape, plain func(string) string }

// signEscapes returns the ways in which HTML and JSON write quotes and signs, by name.
func signEscapes() map[string]signEscape {
	form := func(format string, plain func(string) string) signEscape {
		return signEscape{func(s string) string {
			var b strings.Builder
			for _, c := range s {
				if strings.ContainsRune("\"'&<>=+:", c) {
					fmt.Fprintf(&b, format, c)
				} else {
					b.WriteRune(c)
				}
			}
			return b.String()
		}, plain}
	}
	quoted := func(s string) string {
		out := regexp.MustCompile(`\\+u[0-9A-Fa-f]{4}`).ReplaceAllStringFunc(s, func(e string) string {
			c, _ := strconv.ParseUint(e[len(e)-4:], 16, 16)
			return string(rune(c))
		})
		return out
	}
	twice := func(s string) string { return html.UnescapeString(html.UnescapeString(s)) }
	inJSON := func(s string) string { // as encoding/json has it: & as \u0026
		raw, _ := json.Marshal(s)
		return strings.Trim(string(raw), `"`)
	}
	return map[string]signEscape{
		"HTML in JSON": {func(s string) string { return inJSON(html.EscapeString(s)) }, func(s string) string { return html.UnescapeString(quoted(s)) }},
		"HTML in JSON in HTML": {func(s string) string { return html.EscapeString(inJSON(html.EscapeString(s))) },
			func(s string) string { return html.UnescapeString(quoted(html.UnescapeString(s))) }},
		"capitals":         form(`\u%04X`, quoted),
		"small letters":    form(`\u%04x`, quoted),
		"more backslashes": form(`\\\u%04x`, quoted),
		"decimals":         form("&#%d;", html.UnescapeString),
		"hexadecimals":     form("&#x%X;", html.UnescapeString),
		"HTML twice":       {func(s string) string { return html.EscapeString(html.EscapeString(s)) }, twice},
		"decimals, twice":  form("&amp;#%d;", twice),
	}
}

// TestUnescapedPlaces: each byte of a text without its escapes has the place of that byte, or of
// its whole escape; what only begins like one stays.
func TestUnescapedPlaces(t *testing.T) {
	for _, c := range []struct{ in, plain string }{
		{`a && b`, ""}, {`a&b;c &nosuch; \u00 \u00e9 \uzzzz \`, ""}, {"", ""},
		{`&lt;a&#43;&#x3D;&amp;quot;é&amp;&amp;`, `<a+="é&&`},
		{`x \\\u003C\u003d\n`, `x <=\n`},
		{`&amp;lt;&amp;amp;nope;`, `<&nope;`},
	} {
		u, is := unescaped([]byte(c.in))
		if is != (c.plain != "") || string(u.plain) != c.plain {
			t.Errorf("%q is %q, %v", c.in, u.plain, is)
			continue
		}
		last := 0
		for i := range u.plain {
			at, end := u.place(i), u.place(i+1)
			if at != last || end <= at || end-at == 1 && c.in[at] != u.plain[i] {
				t.Errorf("%q: byte %d of %q is at %d to %d", c.in, i, u.plain, at, end)
			}
			last = end
		}
		if is && last != len(c.in) {
			t.Errorf("%q ends at %d", c.in, last)
		}
	}
}

// TestPrivateKeyLines holds that no line of a private key remains, in any form of its
// lines, and for any number of them.
func TestPrivateKeyLines(t *testing.T) {
	lines := pemLines(300)
	each := func(of []string, f func(i int, line string) string) string {
		list := make([]string, len(of))
		for i, line := range of {
			list[i] = f(i, line)
		}
		return strings.Join(list, "\n")
	}
	r := New()
	for _, whole := range [][]string{lines, lines[:5], lines[2:]} {
		for name, s := range map[string]string{
			"plain":       strings.Join(whole, "\n"),
			"windows":     strings.Join(whole, "\r\n"),
			"arrows":      each(whole, func(i int, line string) string { return fmt.Sprintf("%6d→%s", i+1, line) }),
			"tabs":        each(whole, func(i int, line string) string { return fmt.Sprintf("%6d\t%s", i+1, line) }),
			"colons":      each(whole, func(i int, line string) string { return fmt.Sprintf("%d:%s", i+1, line) }),
			"grep":        each(whole, func(i int, line string) string { return fmt.Sprintf("etc/ssl/x.pem:%d:%s", i+1, line) }),
			"quotation":   each(whole, func(_ int, line string) string { return "> " + line }),
			"diff":        each(whole, func(_ int, line string) string { return "+" + line }),
			"strings":     each(whole, func(_ int, line string) string { return "\t\"" + line + "\\n\" +" }),
			"list":        each(whole, func(_ int, line string) string { return "  - '" + line + "'" }),
			"array":       each(whole, func(_ int, line string) string { return "  \"" + line + "\"," }),
			"with a blob": "cat x\n" + strings.Join(whole, `\n`),
		} {
			got, found := r.Text("Here it is:\n" + s + "\nThat is all.")
			if leaksLines(got, whole) || len(found) == 0 || !strings.HasPrefix(got, "Here it is:\n") || !strings.HasSuffix(got, "That is all.") {
				t.Errorf("%s, %d lines: %q, %v", name, len(whole), got, found)
			}
		}
		var objects []any
		for i, line := range whole {
			objects = append(objects, map[string]any{"n": i, "kind": "add", "text": "+" + line})
		}
		for name, v := range map[string]any{
			"array":          map[string]any{"lines": whole, "after": "words"},
			"array of diffs": []any{"@@ -0,0 +1 @@", objects},
			"in JSON":        map[string]any{"arguments": string(must(json.Marshal(map[string]any{"lines": whole})))},
		} {
			raw := must(json.Marshal(v))
			got, found, err := r.JSON(raw)
			if err != nil || !json.Valid(got) || leaksLines(string(got), whole) || len(found) == 0 {
				t.Errorf("%s, %d lines: %s, %v", name, len(whole), got, err)
			}
			secrets := 0
			for _, x := range found {
				if !x.More {
					secrets++
				}
			}
			if secrets != 1 {
				t.Errorf("%s: one key counts as %d", name, secrets)
			}
			if again, _, _ := r.JSON(got); string(again) != string(got) {
				t.Errorf("%s: a second time %s becomes %s", name, got, again)
			}
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// leaksLines reports whether s has a part of a line of a key.
func leaksLines(s string, lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(line, "-----") && strings.Contains(s, line[:12]) })
}

// TestSplit holds that a secret marked by other strings of the same document is found.
func TestSplit(t *testing.T) {
	r := New()
	key := random(320, 32, alnum)
	for _, c := range []struct{ doc, want string }{
		{`{"command":["mysql","-h","db","-phunter2","shop"]}`, `{"command":["mysql","-h","db","-p[redacted: command-password]","shop"]}`},
		{`["sshpass", "-p", "hunter2", "ssh"]`, `["sshpass", "-p", "[redacted: command-password]", "ssh"]`},
		{`["x","--api-key","` + key + `","-v"]`, `["x","--api-key","[redacted: option-secret]","-v"]`},
		{`{"env":[{"name":"DB_PASSWORD","value":"Tr0ub4dor&3"}]}`, `{"env":[{"name":"DB_PASSWORD","value":"[redacted: password]"}]}`},
		{`{"Key":"API_TOKEN","Value":"` + key + `"}`, `{"Key":"API_TOKEN","Value":"[redacted: generic-api-key]"}`},
		{`[{"name":"LINES","value":"Tr0ub4dor&3"}]`, `[{"name":"LINES","value":"Tr0ub4dor&3"}]`},
		{`["-a","the password","is","here"]`, `["-a","the password","is","here"]`},
	} {
		if got, found, err := r.JSON([]byte(c.doc)); err != nil || string(got) != c.want {
			t.Errorf("JSON(%s) = %s, %v, %v", c.doc, got, found, err)
		}
	}
}

// TestContextKept holds that other text in such contexts is kept.
func TestContextKept(t *testing.T) {
	encode := b64.StdEncoding.EncodeToString
	certificate := "-----BEGIN CERTIFICATE-----\n" + random(330, 64, letters64) + "\n" + random(331, 64, letters64) + "\n-----END CERTIFICATE-----\n"
	r := New()
	for _, s := range strings.Split(`the password is required
The password is wrong.
your password is too short, and the password is not 8 characters long
the password is stored in config.yaml
The password is hashed with bcrypt2.
the password is sha256-hashed, the passphrase is base64 encoded
The password is 2048-bit
the password is 16 characters
the password is "required"
The password is 'invalid'
the password is `+"`null`"+`
the password is os.Getenv("PW1")
my password is incorrect
my password is expired.
my password is wrong.
their password was stolen.
The password is case-sensitive.
the password is $DB_PASS1
The password is <your password 1>
password is user_password_hash1
if the password is nil, the pin is optional
mysql -u root -p shop < dump.sql
mysql -u root -p"$MYSQL_PASSWORD" shop
mysql -p$PW1 shop
gcc -I/usr/include/mysql -pthread -lmysqlclient x.c
docker login -u ada -p $TOKEN registry
docker login --password-stdin
redis-cli -a "$REDIS_PASSWORD" ping
machine learning makes the login page and the password field
machine HOST login USER password PASSWORD
db.internal:5432:shop:ada:$PGPASSWORD
arn:aws:s3:*:*:bucket/key
main.go:5432:12: undefined: x
list:*:38:38:Mailing List Manager:/var/list:/usr/sbin/nologin
use a default login and password to avoid a prompt
printf(&quot;Password is correct.&bsol;n&quot;);
cpe:2.3:a:vendor:product:1.0:*:*:*:*:*:*:*
"auth": "none"
"auth": "application/json+x"
auth: bearer
https://example.org/?sig=0123456789abcdefghijABCDEFGHIJ&x=1
SECRET_KEY = os.environ["DJANGO_SECRET_KEY_1"]
SECRET_KEY = env("DJANGO_SECRET_KEY_1", default="abc")
SECRET_KEY = get_random_secret_key()
SECRET_KEY=${DJANGO_SECRET_KEY_1:-unset}
cmd --token $TOKEN1234 --password-file /run/secrets/pw1
cmd --secret name-of-the-secret-1
cmd --token=abcdefgh
12:34:56.789012 at v1.234567.abcdefghijklmnopqrstuvwxyzabcd
at 2024-01-01:AA bytes
strings.Contains(s, "-----BEGIN RSA PRIVATE KEY-----") and after it a sentence that says nothing
cat key.pem | grep -c "PRIVATE KEY-----"; usr/local/lib/node_modules/typescript`, "\n") {
		if got, found := r.Text(s); got != s {
			t.Errorf("Text(%q) = %q, %v", s, got, found)
		}
	}
	for _, s := range []string{
		certificate,
		"tls.crt: " + encode([]byte(certificate)),
		"data: " + encode([]byte(strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 10))),
		"header := `-----BEGIN RSA PRIVATE KEY-----`\n" + strings.Repeat("A line of ordinary words that says what the program does.\n", 20) + "footer := `-----END RSA PRIVATE KEY-----`",
	} {
		if got, found := r.Text(s); got != s {
			t.Errorf("Text(%q) = %q, %v", s, got, found)
		}
		raw := must(json.Marshal(map[string]any{"text": s, "lines": strings.Split(s, "\n")}))
		if got, found, err := r.JSON(raw); err != nil || string(got) != string(raw) {
			t.Errorf("JSON(%s) = %s, %v, %v", raw, got, found, err)
		}
	}
}
