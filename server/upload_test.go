package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/server"
)

// A field is a field of a form: a file if it has a name.
type field struct {
	field, name, mime, data string
}

func (s *site) post(path string, fields ...field) *reply {
	s.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		h := textproto.MIMEHeader{}
		h.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"`, f.field))
		if f.name != "" {
			h.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"; filename="%s"`, f.field, f.name))
		}
		if f.mime != "" {
			h.Set("Content-Type", f.mime)
		}
		part, err := w.CreatePart(h)
		if err != nil {
			s.t.Fatal(err)
		}
		part.Write([]byte(f.data))
	}
	w.Close()
	r := s.request("POST", path, bytes.NewReader(b.Bytes()))
	r.Header.Set("Content-Type", w.FormDataContentType())
	return s.do(r)
}

type part struct {
	Type     string `json:"type"`
	Filename string `json:"filename"`
	Asset    struct {
		Bucket string `json:"bucket"`
		Key    string `json:"s3_key"`
		ETag   string `json:"etag"`
		SHA256 string `json:"sha256"`
		MIME   string `json:"mime"`
		Size   int    `json:"size_b"`
	} `json:"asset"`
}

func partOf(t *testing.T, raw json.RawMessage) part {
	t.Helper()
	var p part
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

const png = "\x89PNG\r\n\x1a\n and what an image holds"

// tempFiles returns the temporary files that uploads left.
func tempFiles(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(os.TempDir(), "bough-upload-*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestUpload stores files with messages, and reads them in all ways.
func TestUpload(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := newSite(t, server.Options{})
	id := s.create(nil).ID
	first := s.store(id, "first", "")
	path := "/api/v1/session/" + id + "/messages"
	page := "<script>alert(1)</script>"
	var m messageItem
	s.post(path,
		field{"f1", `../../evil/naïve \"x\".html`, "text/html", page},
		field{"unused", "unused.txt", "", "without a reference"},
		field{"payload", "", "", `{"format":"acontext","parent_id":"` + first.ID + `","meta":{"k":1},"blob":{"role":"user","parts":[
			{"type":"text","text":"see"},{"type":"image","file_field":"f2","meta":{"detail":"low"}},{"type":"file","file_field":"f1"},{"type":"file","file_field":"f1"}]}}`},
		field{"f2", "i.png", "application/octet-stream", png},
	).want(201).data(&m)
	if *m.Parent != first.ID || compact(t, m.Meta) != `{"k":1}` || len(m.Parts) != 4 {
		t.Errorf("stored: %+v", m)
	}
	image, html := partOf(t, m.Parts[1]), partOf(t, m.Parts[2])
	sum := sha256.Sum256([]byte(png))
	if image.Asset.SHA256 != hex.EncodeToString(sum[:]) || image.Asset.MIME != "image/png" || image.Asset.Size != len(png) ||
		image.Filename != "i.png" || image.Asset.Key == "" || image.Asset.Bucket == "" || image.Asset.ETag == "" {
		t.Errorf("the image is %+v", image)
	}
	if html.Asset.MIME != "text/html" || html.Filename != `naïve "x".html` {
		t.Errorf("the page is %+v", html)
	}
	files, err := os.ReadDir(filepath.Join(s.w.Dir(), "files"))
	if err != nil || len(files) != 2 {
		t.Errorf("kept: %v, %v", files, err)
	}
	if left := tempFiles(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}

	// With the token, through the session.
	download := "/api/v1/session/" + id + "/asset/download?s3_key="
	re := s.ask("GET", download+url.QueryEscape(image.Asset.Key), nil).want(200)
	if string(re.body) != png {
		t.Errorf("downloaded %q", re.body)
	}
	s.ask("GET", download, nil).fails(400, "s3_key")
	for _, key := range []string{"nothing", "files/" + strings.Repeat("0", 64), "../head.json", "/etc/passwd", "files/../.bough/token"} {
		s.ask("GET", download+url.QueryEscape(key), nil).fails(404, "")
	}
	other := s.create(nil).ID
	s.ask("GET", strings.Replace(download, id, other, 1)+url.QueryEscape(image.Asset.Key), nil).fails(403, "refers")

	// By a link, without the token.
	list := s.read(id, "format=acontext")
	if len(list.URLs) != 2 {
		t.Fatalf("links: %v", list.URLs)
	}
	for sum, content := range map[string]string{image.Asset.SHA256: png, html.Asset.SHA256: page} {
		re := s.link(list.URLs[sum].URL).want(200)
		if string(re.body) != content {
			t.Errorf("%s leads to %q", list.URLs[sum].URL, re.body)
		}
		for name, want := range map[string]string{
			"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox",
			"Accept-Ranges": "bytes", "Cross-Origin-Resource-Policy": "cross-origin",
		} {
			if got := re.header.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s is %q", name, got)
			}
		}
	}
	if again := s.read(id, "format=acontext").URLs[image.Asset.SHA256]; again != list.URLs[image.Asset.SHA256] {
		t.Error("a link differs from one moment to the next")
	}
	r := s.request("GET", strings.TrimPrefix(list.URLs[image.Asset.SHA256].URL, s.url), nil)
	r.Header.Set("Range", "bytes=1-3")
	if re := s.do(r).want(206); string(re.body) != "PNG" {
		t.Errorf("a range: %q", re.body)
	}
	for _, query := range []string{"format=acontext&with_asset_public_url=false", "format=openai"} {
		if got := s.read(id, query); got.URLs != nil {
			t.Errorf("%s: links %v", query, got.URLs)
		}
	}
	// Recipients of exported messages cannot follow links to this machine.
	inside := s.read(id, "format=openai")
	if !bytes.Contains(inside.Items[1], []byte("data:image/png;base64,")) {
		t.Errorf("for OpenAI: %s", inside.Items[1])
	}
}

// link requests a link without the token.
func (s *site) link(link string) *reply {
	s.t.Helper()
	r := s.request("GET", strings.TrimPrefix(link, s.url), nil)
	r.Header.Del("Authorization")
	r.Header.Set("Sec-Fetch-Site", "cross-site") // a page shows it
	return s.do(r)
}

// TestLinks: links cannot be forged or changed, and expire.
func TestLinks(t *testing.T) {
	now := time.Now()
	s := newSite(t, server.Options{Now: func() time.Time { return now }})
	id := s.create(nil).ID
	s.post("/api/v1/session/"+id+"/messages",
		field{"payload", "", "", `{"format":"acontext","blob":{"role":"user","parts":[{"type":"file","file_field":"f"}]}}`},
		field{"f", "a.txt", "text/plain", "content"}).want(201)
	var good string
	for _, l := range s.read(id, "format=acontext").URLs {
		good = l.URL
	}
	s.link(good).want(200)
	u, err := url.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(url.Values){
		"no signature":      func(q url.Values) { q.Del("signature") },
		"another signature": func(q url.Values) { q.Set("signature", strings.Repeat("0", 64)) },
		"another type":      func(q url.Values) { q.Set("type", "text/html") },
		"another name":      func(q url.Values) { q.Set("name", "b.txt") },
		"a later end":       func(q url.Values) { q.Set("expires", "99999999999") },
		"no end":            func(q url.Values) { q.Del("expires") },
		"nothing":           func(q url.Values) { clear(q) },
	} {
		q := u.Query()
		change(q)
		changed := *u
		changed.RawQuery = q.Encode()
		if re := s.link(changed.String()); re.status != 403 {
			t.Errorf("%s: status %d", name, re.status)
		}
	}
	elsewhere := *u
	elsewhere.Path = strings.TrimSuffix(u.Path, filepath.Base(u.Path)) + strings.Repeat("0", 64)
	s.link(elsewhere.String()).fails(403, "link")
	r := s.request("GET", strings.TrimPrefix(good, s.url), nil)
	r.Host = "evil.example"
	s.do(r).fails(403, "name")
	now = now.Add(24 * time.Hour)
	s.link(good).want(200)
	now = now.Add(time.Hour)
	s.link(good).fails(403, "has expired")
}

// TestForms: invalid bodies with files are refused and leave nothing.
func TestForms(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := newSite(t, server.Options{Limits: server.Limits{Upload: 64 << 10, Body: 16 << 10, Files: 2}})
	id := s.create(nil).ID
	path := "/api/v1/session/" + id + "/messages"
	payload := field{"payload", "", "", `{"format":"acontext","blob":{"role":"user","parts":[{"type":"file","file_field":"f"}]}}`}
	file := field{"f", "f.txt", "text/plain", "x"}
	for name, c := range map[string]struct {
		fields []field
		status int
		msg    string
	}{
		"no payload":            {[]field{file}, 400, "payload is missing"},
		"no such file":          {[]field{payload}, 400, `missing file "f"`},
		"a field and no file":   {[]field{payload, {"f", "", "", "x"}}, 400, `missing file "f"`},
		"the payload is a file": {[]field{{"payload", "p.json", "", payload.data}, file}, 400, "payload is missing"},
		"no JSON":               {[]field{{"payload", "", "", "{"}, file}, 400, "payload is not JSON"},
		"no object":             {[]field{{"payload", "", "", "[]"}, file}, 400, "payload must be a JSON object"},
		"too many files":        {[]field{payload, file, {"g", "g", "", "x"}, {"h", "h", "", "x"}}, 400, "too many files"},
		"a large payload":       {[]field{{"payload", "", "", `{"x":"` + strings.Repeat("x", 16<<10) + `"}`}, file}, 413, "payload is too large"},
		"a large file":          {[]field{payload, {"f", "f", "", strings.Repeat("x", 64<<10)}}, 413, "too large"},
		"an invalid name":       {[]field{payload, {"f", "\xff.txt", "", "x"}}, 400, "UTF-8"},
		"an invalid parent":     {[]field{{"payload", "", "", strings.Replace(payload.data, "{", `{"parent_id":"`+unknown+`",`, 1)}, file}, 404, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.t = t
			s.post(path, c.fields...).fails(c.status, c.msg)
			if left := tempFiles(t); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if _, err := os.Stat(filepath.Join(s.w.Dir(), "files")); err == nil {
				t.Error("a file was kept")
			}
		})
	}
	for contentType, body := range map[string]string{
		"multipart/form-data":             "x",
		"multipart/form-data; boundary=":  "x",
		"multipart/form-data; boundary=x": "--x\r\nContent-Disposition: form-data; name=\"payload\"\r\n\r\n{}",
	} {
		r := s.request("POST", path, strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		if re := s.do(r); re.status != http.StatusBadRequest && re.status != http.StatusUnsupportedMediaType {
			t.Errorf("%s: status %d: %s", contentType, re.status, re.body)
		}
	}
	if got := s.branches(id); len(got) > 0 {
		t.Errorf("something was stored: %v", got)
	}
}
