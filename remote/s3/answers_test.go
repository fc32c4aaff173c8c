package s3

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace/fault"
)

// An answer is what a service answers, in order; the last one again and again.
type answer struct {
	status int
	header string // a name and a value, with a colon
	body   string
	cut    bool // the connection breaks after the body
}

func xmlError(code string) string {
	return "<Error><Code>" + code + "</Code><Message>message of " + code + "</Message></Error>"
}

// answering returns a store of a service with answers, and the requests that it gets.
func answering(t *testing.T, o Options, answers ...answer) (s *Store, requests func() []*http.Request) {
	t.Helper()
	setCredentials(t)
	var mu sync.Mutex
	var got []*http.Request
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		mu.Lock()
		a := answers[min(len(got), len(answers)-1)]
		got = append(got, r)
		mu.Unlock()
		if name, value, ok := strings.Cut(a.header, ":"); ok {
			w.Header().Set(name, value)
		}
		if a.cut {
			w.Header().Set("Content-Length", fmt.Sprint(2*len(a.body)))
		}
		w.Header().Set("Last-Modified", "Tue, 24 Nov 2026 00:00:00 GMT")
		w.WriteHeader(a.status)
		io.WriteString(w, a.body)
	}))
	t.Cleanup(service.Close)
	s = open(t, strings.TrimPrefix(service.URL, "http://"), "bucket/pre", o)
	return s, func() []*http.Request {
		mu.Lock()
		defer mu.Unlock()
		return got
	}
}

// TestPutAnswers: what a Put makes of answers, and how often it sends the request.
func TestPutAnswers(t *testing.T) {
	conflict := answer{status: 409, body: xmlError("ConditionalRequestConflict")}
	for _, c := range []struct {
		name     string
		answers  []answer
		want     error // nil for success
		text     string
		requests int
	}{
		{"created", []answer{{status: 200}}, nil, "", 1},
		{"exists", []answer{{status: 412, body: xmlError("PreconditionFailed")}}, bucket.ErrExists, "", 1},
		{"exists, without a body", []answer{{status: 412}}, bucket.ErrExists, "", 1},
		{"conflict, then created", []answer{conflict, conflict, {status: 200}}, nil, "", 3},
		{"conflict, then exists", []answer{conflict, {status: 412}}, bucket.ErrExists, "", 2},
		{"conflict for ever", []answer{conflict}, fault.Failed, "ConditionalRequestConflict", conflictAttempts},
		{"overloaded, then created", []answer{{status: 503, body: xmlError("SlowDown")}, {status: 200}}, nil, "", 2},
		{"broken, then created", []answer{{status: 500, body: "oops"}, {status: 502}, {status: 200}}, nil, "", 3},
		{"overloaded for ever", []answer{{status: 503, body: xmlError("SlowDown")}}, fault.Failed, "message of SlowDown", attempts},
		{"no condition", []answer{{status: 501, body: xmlError("NotImplemented")}}, fault.Refused, "rejects requests that create", 1},
		{"no condition, without a body", []answer{{status: 501}}, fault.Refused, "rejects requests that create", 1},
		{"no bucket, without a body", []answer{{status: 404}}, fault.NotFound, "no bucket bucket at", 1},
		{"denied", []answer{{status: 403, body: xmlError("AccessDenied")}}, fault.Refused, "denies access to the bucket bucket to the credentials of AWS_ACCESS_KEY_ID", 1},
		{"denied by a proxy", []answer{{status: 403, body: "<html>no</html>"}}, fault.Refused, "denies access", 1},
		{"clock", []answer{{status: 403, body: xmlError("RequestTimeTooSkewed")}}, fault.Refused, "the clock of this machine", 1},
		{"unknown key", []answer{{status: 403, body: xmlError("InvalidAccessKeyId")}}, fault.Refused, "does not know the access key", 1},
		{"session", []answer{{status: 400, body: xmlError("InvalidToken")}}, fault.Refused, "has ended", 1},
		{"unknown denial", []answer{{status: 403, body: xmlError("QuotaExceeded")}}, fault.Refused, "message of QuotaExceeded", 1},
		{"no bucket", []answer{{status: 404, body: xmlError("NoSuchBucket")}}, fault.NotFound, "no bucket bucket at", 1},
		{"other region, then created", []answer{{status: 301, header: "X-Amz-Bucket-Region:eu-north-1", body: xmlError("PermanentRedirect")}, {status: 200}}, nil, "", 2},
		{"other region for ever", []answer{{status: 400, header: "X-Amz-Bucket-Region:eu-north-1", body: xmlError("AuthorizationHeaderMalformed")}}, fault.Refused, "not in the region eu-north-1", 2},
		{"long region", []answer{{status: 301, header: "X-Amz-Bucket-Region:" + strings.Repeat("a", 41), body: xmlError("PermanentRedirect")}}, fault.Refused, "not in the region us-east-1", 1},
		{"hostile region", []answer{{status: 301, header: "X-Amz-Bucket-Region:evil.example/", body: xmlError("PermanentRedirect")}}, fault.Refused, "not in the region us-east-1", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, requests := answering(t, Options{}, c.answers...)
			err := s.Put(t.Context(), "a/b", []byte("data"))
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("Put = %v; want %v with %q", err, c.want, c.text)
			}
			got := requests()
			if len(got) != c.requests {
				t.Errorf("%d requests, want %d", len(got), c.requests)
			}
			for _, r := range got {
				if r.Method != http.MethodPut || r.URL.Path != "/bucket/pre/a/b" || r.Header.Get("If-None-Match") != "*" ||
					r.Header.Get("X-Amz-Content-Sha256") != "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7" {
					t.Errorf("sent %s %s %v", r.Method, r.URL, r.Header)
				}
			}
			if _, ok := errors.AsType[*bucket.NoCreateOnlyError](err); ok != strings.HasPrefix(c.name, "no condition") {
				t.Errorf("%T", err)
			}
			if strings.Contains(fmt.Sprintf("%v %+v", err, err), testSecret) {
				t.Error("the secret is shown")
			}
		})
	}
}

// TestGetAnswers: what a Get makes of answers.
func TestGetAnswers(t *testing.T) {
	cut := answer{status: 200, body: "part", cut: true}
	for _, c := range []struct {
		name     string
		answers  []answer
		want     error
		requests int
	}{
		{"whole", []answer{{status: 200, body: "whole"}}, nil, 1},
		{"a part, then whole", []answer{cut, cut, {status: 200, body: "whole"}}, nil, 3},
		{"a part for ever", []answer{cut}, fault.Failed, attempts},
		{"absent", []answer{{status: 404, body: xmlError("NoSuchKey")}}, fs.ErrNotExist, 1},
		{"no bucket", []answer{{status: 404, body: xmlError("NoSuchBucket")}}, fault.NotFound, 1},
		{"too large", []answer{{status: 200, body: strings.Repeat("x", bucket.MaxObject+1)}}, fault.Refused, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, requests := answering(t, Options{}, c.answers...)
			data, err := s.Get(t.Context(), "a/b")
			if !errors.Is(err, c.want) || err == nil && string(data) != "whole" || err != nil && data != nil {
				t.Errorf("Get = %.20q, %v; want %v", data, err, c.want)
			}
			if c.name == "no bucket" && errors.Is(err, fs.ErrNotExist) {
				t.Error("an absent bucket is like an absent object")
			}
			if n := len(requests()); n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
		})
	}
}

// TestListAnswers: a service that repeats a page for ever does not keep List busy.
func TestListAnswers(t *testing.T) {
	page := `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>next</NextContinuationToken>` +
		`<Contents><Key>pre/a</Key><Size>1</Size></Contents><Contents><Key>pre/b</Key><Size>1</Size></Contents></ListBucketResult>`
	s, requests := answering(t, Options{}, answer{status: 200, body: page})
	list, err := s.List(t.Context(), bucket.ListOptions{})
	if err == nil || len(requests()) > 3 {
		t.Errorf("List = %v, %v after %d requests", list, err, len(requests()))
	}
}

// TestListAfter: the service omits names before the requested one.
func TestListAfter(t *testing.T) {
	s, requests := answering(t, Options{}, answer{status: 200, body: "<ListBucketResult></ListBucketResult>"})
	if _, err := s.List(t.Context(), bucket.ListOptions{Prefix: "m/", After: "m/b"}); err != nil {
		t.Fatal(err)
	}
	q := requests()[0].URL.Query()
	if q.Get("prefix") != "pre/m/" || q.Get("start-after") != "pre/m/b" || q.Get("delimiter") != "" || q.Has("fetch-owner") {
		t.Errorf("the request is for %v", q)
	}
}

// A closing body calls a function when it is closed.
type closing struct {
	io.Reader
	closed func()
}

func (c closing) Close() error {
	c.closed()
	return nil
}

type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// TestListCancelled: a list that was cancelled between two pages is not returned as the whole one.
func TestListCancelled(t *testing.T) {
	s, _ := answering(t, Options{}, answer{status: 200})
	ctx, cancel := context.WithCancel(t.Context())
	page := `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>next</NextContinuationToken><Contents><Key>pre/a</Key></Contents></ListBucketResult>`
	client, err := minio.NewCore(s.at.host, &minio.Options{Creds: s.creds, Region: "us-east-1", Transport: roundTrip(func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: closing{strings.NewReader(page), cancel}, Request: r}
	})})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.list(ctx, client, bucket.ListOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the list is %v, %v", list, err)
	}
}

// TestDeleteAnswers: an object that does not exist is deleted already.
func TestDeleteAnswers(t *testing.T) {
	s, _ := answering(t, Options{}, answer{status: 404, body: xmlError("NoSuchKey")})
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}

// TestOneWriter: a store for one writer sends no condition, and looks before.
func TestOneWriter(t *testing.T) {
	s, requests := answering(t, Options{OneWriter: true}, answer{status: 404}, answer{status: 200})
	if err := s.Put(t.Context(), "a", []byte("x")); err != nil {
		t.Error(err)
	}
	for i, method := range []string{http.MethodHead, http.MethodPut} {
		if r := requests()[i]; r.Method != method || r.Header.Get("If-None-Match") != "" {
			t.Errorf("request %d is %s %v", i, r.Method, r.Header)
		}
	}
}

// A recorder records the deadlines of a connection.
type recorder struct {
	net.Conn
	read, written []string
}

func (r *recorder) SetDeadline(time.Time) error {
	return errors.Join(r.SetReadDeadline(time.Time{}), r.SetWriteDeadline(time.Time{}))
}
func (r *recorder) SetReadDeadline(time.Time) error {
	r.read = append(r.read, "deadline")
	return nil
}
func (r *recorder) SetWriteDeadline(time.Time) error {
	r.written = append(r.written, "deadline")
	return nil
}
func (r *recorder) Read(p []byte) (int, error) { r.read = append(r.read, "call"); return len(p), nil }
func (r *recorder) Write(p []byte) (int, error) {
	r.written = append(r.written, "call")
	return len(p), nil
}

// TestIdle: a write extends the time that a read has, because an answer comes only after the object.
func TestIdle(t *testing.T) {
	r := new(recorder)
	c := idleConn{r, time.Minute}
	c.Read(make([]byte, 1))
	c.Write(make([]byte, 1))
	if want := []string{"deadline", "call", "deadline"}; !slices.Equal(r.read, want) || !slices.Equal(r.written, want[:2]) {
		t.Errorf("reading does %v, writing %v", r.read, r.written)
	}
}

// TestSilence: a service that stops amid an answer, or never begins one, does not keep a call busy.
func TestSilence(t *testing.T) {
	setCredentials(t)
	for name, begin := range map[string]string{"no answer": "", "part of an answer": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nLast-Modified: Tue, 24 Nov 2026 00:00:00 GMT\r\n\r\npart"} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					defer c.Close()
					io.WriteString(c, begin)
				}
			}()
			s := open(t, l.Addr().String(), "bucket", Options{})
			if s.transport, err = newTransport(false, 5*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if err := s.use(s.Region()); err != nil {
				t.Fatal(err)
			}
			data, err := s.Get(t.Context(), "a")
			if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.Failed || !strings.Contains(e.Message, "i/o timeout") {
				t.Errorf("Get = %q, %v", data, err)
			}
		})
	}
}

// TestCertificate: a certificate of an unknown authority is refused, without a second request, and
// one of the authority in SSL_CERT_FILE is not.
func TestCertificate(t *testing.T) {
	setCredentials(t)
	service := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusOK) }))
	service.Config.ErrorLog = log.New(io.Discard, "", 0)
	service.StartTLS()
	defer service.Close()
	put := func() error {
		s, err := Open(t.Context(), service.URL+"/bucket", Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.Put(t.Context(), "a", []byte("x"))
	}
	err := put()
	if e, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(e.Message, "certificate") || !strings.Contains(e.Hint, "SSL_CERT_FILE") {
		t.Errorf("Put = %v", err)
	}
	authority := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: service.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", authority)
	if err := put(); err != nil {
		t.Error(err)
	}
}
