package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/lines"
	"golang.org/x/net/html"
)

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// fetch returns the answer for a path.
func fetch(t *testing.T, w *workspace.Workspace, path string) *httptest.ResponseRecorder {
	t.Helper()
	p := &Page{workspace: w, opts: Options{Now: time.Now, Log: func(s string) { t.Error(s) }}}
	mux := http.NewServeMux()
	for _, v := range views() {
		h := p.show(v.view)
		mux.HandleFunc("GET "+v.path, func(w http.ResponseWriter, r *http.Request) {
			setHeaders(w.Header())
			h(w, r)
		})
	}
	rec := httptest.NewRecorder()
	mux.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	return rec
}

// TestImages: an image in a message is sent as what it is, and nothing else is an image.
func TestImages(t *testing.T) {
	w := open(t)
	must(w.New(t.Context(), "Pictures"))(t)
	parts, err := json.Marshal([]map[string]any{
		{"type": "text", "text": "Look: ![gif](data:image/gif;base64,R0lGODlhAQABAAAAACw=)"},
		{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": pixel}},
		{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/svg+xml", "data": "PHN2Zy8+"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	added := must(w.Append(t.Context(), workspace.Append{Content: parts}))(t)
	var sources []string
	for _, n := range draw(t, w, "/c/"+added.Session).find(func(n *html.Node) bool { return n.Data == "img" }) {
		sources = append(sources, attr(n, "src"))
	}
	if len(sources) != 2 {
		t.Fatalf("the images are %v", sources)
	}
	want, _ := base64.StdEncoding.DecodeString(pixel)
	for i, kind := range []string{"image/gif", "image/png"} {
		a := fetch(t, w, sources[i])
		h := a.Header()
		if a.Code != http.StatusOK || h.Get("Content-Type") != kind || h.Get("Content-Security-Policy") != attachmentPolicy || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: status %d, %v", sources[i], a.Code, h)
		}
		if i == 1 && !bytes.Equal(a.Body.Bytes(), want) {
			t.Errorf("the image has %d bytes, not %d", a.Body.Len(), len(want))
		}
	}
	for _, path := range []string{strings.Replace(sources[0], "n=0", "n=2", 1), strings.Replace(sources[0], "n=0", "n=-1", 1)} {
		if a := fetch(t, w, path); a.Code == http.StatusOK {
			t.Errorf("%s is sent", path)
		}
	}
}

// TestAttachments: an attachment is sent by its content, whatever the conversation says, and
// is saved unless it is an image.
func TestAttachments(t *testing.T) {
	w := open(t)
	png, _ := base64.StdEncoding.DecodeString(pixel)
	line, _, err := w.NewLine(t.Context(), lines.Options{Title: "Files"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mime  string
		data  []byte
		want  string
		shown bool
	}{
		{"text/html", png, "image/png", true},
		{"image/png", []byte("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"), "application/octet-stream", false},
		{"image/png", []byte("<!DOCTYPE html><script>alert(1)</script>"), "application/octet-stream", false},
		{"application/pdf", []byte("%PDF-1.4"), "application/octet-stream", false},
	} {
		hash := sha256.Sum256(c.data)
		sum := hex.EncodeToString(hash[:])
		_, err := w.Line(line.ID).Store(t.Context(), lines.Message{
			Content: func(func() ([]lines.Node, error)) (lines.Content, error) {
				m := &content.Message{Role: "user", Parts: []content.Part{{Type: "file", Filename: "a.bin", Asset: &content.Asset{SHA256: sum, MIME: c.mime, SizeB: int64(len(c.data))}}}}
				role, value, own := m.Stored()
				stored := lines.Content{Role: role, Value: value}
				for _, o := range own {
					stored.Own = append(stored.Own, lines.Member(o))
				}
				return stored, nil
			},
			Files: []lines.File{{SHA256: sum, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.data)), nil }}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if links := draw(t, w, "/c/"+line.ID).with("href", "/file/"+sum); len(links) != 1 || !has(links[0], "download") {
			t.Errorf("%s has %d links", c.mime, len(links))
		}
		a := fetch(t, w, "/file/"+sum)
		h := a.Header()
		if a.Code != http.StatusOK || h.Get("Content-Type") != c.want || h.Get("Content-Security-Policy") != attachmentPolicy || (h.Get("Content-Disposition") == "") != c.shown {
			t.Errorf("%s: status %d, %v", c.mime, a.Code, h)
		}
		if !bytes.Equal(a.Body.Bytes(), c.data) {
			t.Errorf("%s has other bytes", c.mime)
		}
	}
}

// TestTreeFile: the picture of the tree is a file of its own, too.
func TestTreeFile(t *testing.T) {
	s := tell(t)
	a := fetch(t, s.Workspace, "/tree/"+lisbon+".svg")
	h := a.Header()
	if a.Code != http.StatusOK || h.Get("Content-Type") != "image/svg+xml" || !strings.Contains(h.Get("Content-Security-Policy"), "style-src 'sha256-") || !strings.HasSuffix(h.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("status %d, %v", a.Code, h)
	}
	if text := a.Body.String(); !strings.HasPrefix(text, "<svg ") || !strings.Contains(text, "<style>") || strings.Contains(text, "href=") {
		t.Errorf("the file is %.200s", text)
	}
	rec := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/static/tree.css", nil)
	r.SetPathValue("name", "tree.css")
	if static(rec, r); rec.Code != http.StatusOK || rec.Header().Get("Content-Type") != "text/css; charset=utf-8" || !strings.Contains(rec.Body.String(), ".tp{") {
		t.Errorf("the style sheet of the tree has the status %d", rec.Code)
	}
}
