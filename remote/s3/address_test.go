package s3

import (
	"errors"
	"net/url"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/bough-dev/bough/workspace/fault"
)

func TestParse(t *testing.T) {
	for s, want := range map[string]address{
		"s3://chats":                              {amazon, true, "chats", ""},
		"s3://chats/":                             {amazon, true, "chats", ""},
		"s3://chats/a/b/":                         {amazon, true, "chats", "a/b/"},
		"s3://my.chats/Wörk%20Space":              {amazon, true, "my.chats", "Wörk Space/"},
		"https://store.example/chats":             {"store.example", true, "chats", ""},
		"https://store.example:9000/chats/a":      {"store.example:9000", true, "chats", "a/"},
		"https://s3.eu-west-1.amazonaws.com/abc":  {"s3.eu-west-1.amazonaws.com", true, "abc", ""},
		"http://localhost:9000/chats/a":           {"localhost:9000", false, "chats", "a/"},
		"http://127.0.0.1/chats":                  {"127.0.0.1", false, "chats", ""},
		"http://[::1]:9000/chats":                 {"[::1]:9000", false, "chats", ""},
		"https://x.r2.cloudflarestorage.com/abc/": {"x.r2.cloudflarestorage.com", true, "abc", ""},
	} {
		got, err := parse(s)
		if err != nil || got != want {
			t.Errorf("parse(%s) = %+v, %v; want %+v", s, got, err, want)
		}
		if again, err := parse(got.String()); err != nil || again != got {
			t.Errorf("%s is not parsed as %+v: %+v, %v", got, got, again, err)
		}
	}
}

// TestParseRefuses: addresses that are wrong or not safe are refused, and secrets are not shown.
func TestParseRefuses(t *testing.T) {
	for s, text := range map[string]string{
		"":                                       "scheme",
		"chats":                                  "scheme",
		"ftp://host/chats":                       `the scheme "ftp"`,
		"s3://":                                  "no bucket",
		"https://host":                           "no bucket",
		"https:///chats":                         "no host",
		"s3:chats":                               "host and a path only",
		"s3://UPPER/x":                           "not the name of a bucket",
		"s3://ab":                                "not the name of a bucket",
		"s3://chats--use1-az4--x-s3":             "directory buckets",
		"s3://chats/a/../b":                      "not the beginning",
		"s3://chats/a//b":                        "not the beginning",
		"s3://chats/a%00b":                       "not the beginning",
		"s3://chats/" + strings.Repeat("a", 501): "502",
		"s3://chats?versionId=1":                 "host and a path only",
		"s3://chats#a":                           "host and a path only",
		"http://store.example/chats":             "this machine only",
		"http://127.0.0.1.evil.example/chats":    "this machine only",
		"https://chats.s3.eu-west-1.amazonaws.com/": "no bucket",
		"https://chats.s3.amazonaws.com/a/b":        "contains a bucket",
		"https://store.example;9000/chats":          "cannot be at",
		"https://AKIA:hidden@store.example/chats":   "user or a password",
		"s3://hidden@chats/a":                       "user or a password",
		"https://AKIA:hidden@store example/chats":   "not a URL",
		"https://AKIA:hidden@store.example:x/chats": "not a URL",
	} {
		_, err := parse(s)
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || e.Code != fault.Usage && e.Code != fault.Refused || !strings.Contains(e.Message, text) {
			t.Errorf("parse(%q) = %v; want %q", s, err, text)
		} else if strings.Contains(e.Message+e.Hint, "hidden") {
			t.Errorf("parse(%q) shows the secret: %v", s, err)
		}
	}
}

// FuzzParse: an address that is accepted is written as one that means the same, and requests go to
// its host only.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"s3://chats/a b/%41", "https://store.example:9000/chats/a//", "http://[::1]:9000/chats/%2e%2e", "http://localhost%2f.example/chats", "https://store.example;9000/chats"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := parse(s)
		if err != nil {
			return
		}
		if again, err := parse(a.String()); err != nil || again != a {
			t.Errorf("%q is %+v, and %s is %+v, %v", s, a, a, again, err)
		}
		if u, err := url.Parse(s); err != nil || a.host != amazon && a.host != u.Host || u.User != nil {
			t.Errorf("%q is %+v", s, a)
		}
		if _, err := minio.New(a.host, &minio.Options{Secure: a.secure, Creds: credentials.NewEnvAWS()}); err != nil {
			t.Errorf("%q has a host that the client refuses: %v", s, err)
		}
		if key := a.key("a/b"); path.Clean("/"+key) != "/"+key || !utf8.ValidString(key) {
			t.Errorf("%q has the key %q", s, key)
		}
	})
}
