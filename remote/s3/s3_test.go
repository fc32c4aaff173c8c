package s3

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"

	"github.com/bough-dev/bough/internal/testnetwork"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/internal/storetest"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestServers: real services pass the laws of a store, and what else belongs to a bucket.
func TestServers(t *testing.T) {
	for _, server := range servers(t) {
		t.Run(server.name, func(t *testing.T) {
			t.Run("laws", func(t *testing.T) {
				stores := 0
				name := server.bucket(t)
				storetest.Laws(t, func(t *testing.T) bucket.Store {
					stores++
					s := open(t, server.address, fmt.Sprintf("%s/Some Prefix/%d/", name, stores), Options{})
					s.pageSize = testsize.Of(10, 100, 0)
					return s
				})
			})
			t.Run("whole bucket", func(t *testing.T) {
				s := open(t, server.address, server.bucket(t), Options{})
				mustPut(t, s, "a/b", "1")
				if list, err := s.List(t.Context(), bucket.ListOptions{}); err != nil || len(list) != 1 || list[0].Name != "a/b" {
					t.Errorf("the bucket has %v, %v", list, err)
				}
			})
			t.Run("other objects", func(t *testing.T) { ignoresOthers(t, server) })
			t.Run("region", func(t *testing.T) { findsRegion(t, server) })
			t.Run("one writer", func(t *testing.T) { writesAlone(t, server) })
			t.Run("wrong", func(t *testing.T) { explainsWrong(t, server) })
			t.Run("faults", func(t *testing.T) { survivesFaults(t, server) })
		})
	}
}

func mustPut(t *testing.T, s bucket.Store, name, data string) {
	t.Helper()
	if err := s.Put(t.Context(), name, []byte(data)); err != nil {
		t.Fatal(err)
	}
}

func putOptions() minio.PutObjectOptions { return minio.PutObjectOptions{DisableContentSha256: true} }

// ignoresOthers: objects of others, beside the prefix and below it, are not listed.
func ignoresOthers(t *testing.T, server server) {
	name := server.bucket(t)
	s := open(t, server.address, name+"/pre", Options{})
	mustPut(t, s, "a/b", "1")
	for _, key := range []string{"prefix/a/b", "other", "pre/With Space", "pre/a/UPPER", "pre/.hidden", "pre/a/ü"} {
		if _, err := s.client.PutObject(t.Context(), name, key, strings.NewReader("x"), 1, "", "", putOptions()); err != nil {
			t.Fatal(err)
		}
	}
	for _, shallow := range []bool{false, true} {
		list, err := s.List(t.Context(), bucket.ListOptions{Prefix: "a/", Shallow: shallow})
		if err != nil || len(list) != 1 || list[0] != (bucket.Object{Name: "a/b", Size: 1}) {
			t.Errorf("the store has %v, %v", list, err)
		}
	}
}

// findsRegion: a request for another region than that of the service is repeated, once.
func findsRegion(t *testing.T, server server) {
	s := open(t, server.address, server.bucket(t), Options{Region: "eu-west-7"})
	for range 2 {
		if _, err := s.List(t.Context(), bucket.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if u := s.Usage(); u.Lists != 3 || s.Region() != "us-east-1" {
		t.Errorf("%d requests found the region %s", u.Lists, s.Region())
	}
}

// writesAlone: a store for one writer creates and does not overwrite.
func writesAlone(t *testing.T, server server) {
	s := open(t, server.address, server.bucket(t), Options{OneWriter: true})
	mustPut(t, s, "a", "1")
	if err := s.Put(t.Context(), "a", []byte("2")); !errors.Is(err, bucket.ErrExists) {
		t.Errorf("a second Put: %v", err)
	}
	if data, err := s.Get(t.Context(), "a"); string(data) != "1" {
		t.Errorf("the object has %q, %v", data, err)
	}
}

// explainsWrong: errors name the cause.
func explainsWrong(t *testing.T, server server) {
	name := server.bucket(t)
	for _, c := range []struct {
		do   string
		open func(t *testing.T) *Store
		code fault.Code
		text string
	}{
		{"bucket", func(t *testing.T) *Store { return open(t, server.address, "no-such-bucket/x", Options{}) }, fault.NotFound, "no bucket no-such-bucket at " + server.address},
		{"secret", func(t *testing.T) *Store {
			t.Setenv("AWS_SECRET_ACCESS_KEY", "another-secret")
			return open(t, server.address, name, Options{})
		}, fault.Refused, "rejects the secret key of AWS_ACCESS_KEY_ID"},
		{"key", func(t *testing.T) *Store {
			t.Setenv("AWS_ACCESS_KEY_ID", "another-key")
			return open(t, server.address, name, Options{})
		}, fault.Refused, server.address},
		{"nobody listens", func(t *testing.T) *Store { return open(t, freeAddress(t), name, Options{}) }, fault.Failed, "no answer from 127.0.0.1:"},
	} {
		t.Run(c.do, func(t *testing.T) {
			s := c.open(t)
			_, get := s.Get(t.Context(), "a")
			_, list := s.List(t.Context(), bucket.ListOptions{})
			for do, err := range map[string]error{"Put": s.Put(t.Context(), "a", []byte("x")), "Get": get, "List": list} {
				e, ok := errors.AsType[*fault.Error](err)
				if !ok || e.Code != c.code || !strings.Contains(e.Message, c.text) || e.Hint == "" {
					t.Errorf("%s: %+v", do, err)
				}
				if strings.Contains(fmt.Sprintf("%v %+v", err, e), testSecret) {
					t.Errorf("%s shows the secret: %v", do, err)
				}
			}
		})
	}
}

// survivesFaults: behind a network that loses, delays and repeats requests, nothing that was
// acknowledged is lost, and the requests that the store counts are those that were sent.
func survivesFaults(t *testing.T, server server) {
	for seed := range uint64(testsize.Of(1, 1, 6)) {
		for _, attempts := range []int{1, 0} {
			n := testnetwork.New(t, server.address, seed)
			n.Disturb(3)
			s := open(t, n.Address, fmt.Sprintf("%s/%d", server.bucket(t), attempts), Options{})
			s.attempts = attempts
			if err := s.use(s.Region()); err != nil {
				t.Fatal(err)
			}
			failed := storetest.Survives(t, s, testsize.Of(15, 30, 60))
			n.Settle()
			list, err := s.List(t.Context(), bucket.ListOptions{Prefix: "m/"})
			if err != nil || len(list) != testsize.Of(15, 30, 60) {
				t.Errorf("in the end there are %d objects: %v", len(list), err)
			}
			for i, o := range list {
				if data, err := s.Get(t.Context(), o.Name); !bytes.Equal(data, storetest.Content(i, 500+i*97)) {
					t.Errorf("in the end %s has %d bytes: %v", o.Name, len(data), err)
				}
			}
			if attempts == 1 && failed == 0 {
				t.Errorf("no call failed: %v", n)
			}
			if got, want := s.Usage().Requests(), int64(n.Requests()); got != want {
				t.Errorf("the store counts %d requests of %d", got, want)
			}
		}
	}
}
