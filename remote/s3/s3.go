// Package s3 stores the objects of a remote in a bucket of S3 or of a compatible service.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace/fault"
)

// Options are how a store is used.
type Options struct {
	// Region is the region of the bucket. If it is "", the region is the first that is set of: the
	// region in the host's name, AWS_REGION, AWS_DEFAULT_REGION, the profile's region, and
	// us-east-1. If the bucket is in another region, the first request is repeated there.
	Region string

	// OneWriter is for a service that cannot create an object only if there is none. Put then looks
	// whether there is one before it writes, which only protects from writers that are not
	// concurrent.
	OneWriter bool
}

// A Store is a part of a bucket.
type Store struct {
	at        address
	oneWriter bool
	creds     *credentials.Credentials
	source    string // of creds, for messages
	transport *transport

	// For tests:
	pageSize int // of lists; 0 for that of the service
	maxList  int // objects; 0 for bucket.MaxList
	attempts int // of a request, at most; 0 for the constant

	mu     sync.Mutex
	region string
	client *minio.Core // for region
}

var _ interface {
	bucket.Store
	Usage() bucket.Usage // for a bucket.Meter
} = (*Store)(nil)

const (
	// attempts is how often a request is sent at most. It is sent again if there is no answer, or
	// one that the service is overloaded. To repeat a Put is safe: if the first one had its effect,
	// the next one gets ErrExists, which says nothing about who created the object.
	attempts = 5

	// conflictAttempts is how often a Put is sent at most while the service answers that another
	// request for the same object is in progress.
	conflictAttempts = 6
)

// Open returns the store at an address:
//
//	s3://BUCKET/PREFIX              S3 of AWS
//	https://HOST/BUCKET/PREFIX      a compatible service
//	http://HOST/BUCKET/PREFIX       one on this machine: HOST is localhost or a loopback address
//
// Credentials are those of the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), else of
// the profile (AWS_PROFILE) in ~/.aws, else of the role of a container or machine at AWS. Open makes
// no request to the service.
func Open(ctx context.Context, address string, o Options) (*Store, error) {
	at, err := parse(address)
	if err != nil {
		return nil, err
	}
	creds, source, err := findCredentials(ctx)
	if err != nil {
		return nil, err
	}
	t, err := newTransport(at.secure, idleTimeout)
	if err != nil {
		return nil, err
	}
	s := &Store{at: at, oneWriter: o.OneWriter, creds: creds, source: source, transport: t}
	ofHost := s3utils.GetRegionFromURL(url.URL{Host: at.host})
	return s, s.use(cmp.Or(o.Region, ofHost, findRegion(), "us-east-1"))
}

// use makes requests go to a region.
func (s *Store) use(region string) error {
	client, err := minio.NewCore(s.at.host, &minio.Options{
		Creds: s.creds, Secure: s.at.secure, Transport: s.transport, Region: region, MaxRetries: cmp.Or(s.attempts, attempts),
	})
	if err != nil {
		return badAddress(err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client, s.region = client, region
	return nil
}

// Region returns the region of the bucket, as far as it is known. After a successful request, it is
// the one for Options.Region.
func (s *Store) Region() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.region
}

// Usage returns the HTTP requests that were made, repeated ones too, and the bytes of their bodies.
func (s *Store) Usage() bucket.Usage {
	s.transport.mu.Lock()
	defer s.transport.mu.Unlock()
	return s.transport.usage
}

// Close closes the connections.
func (s *Store) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// String returns the address.
func (s *Store) String() string { return s.at.String() }

// do makes a request, and repeats it if the bucket is in another region.
func (s *Store) do(ctx context.Context, request func(c *minio.Core) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	client, region := s.client, s.region
	s.mu.Unlock()
	err := request(client)
	to := otherRegion(err)
	if to == "" || to == region {
		return err
	}
	if err := s.use(to); err != nil {
		return err
	}
	s.mu.Lock()
	client = s.client
	s.mu.Unlock()
	return request(client)
}

// Put creates an object, as [bucket.Store] says.
func (s *Store) Put(ctx context.Context, name string, data []byte) error {
	if err := errors.Join(bucket.CheckName(name), bucket.CheckSize(name, int64(len(data)))); err != nil {
		return err
	}
	if s.oneWriter {
		err := s.do(ctx, func(c *minio.Core) error {
			_, err := c.StatObject(ctx, s.at.bucket, s.at.key(name), minio.StatObjectOptions{})
			return err
		})
		if minio.ToErrorResponse(err).Code != minio.NoSuchKey {
			return s.explain(ctx, "put", name, cmp.Or(err, bucket.ErrExists))
		}
	}
	wait := minio.DefaultRetryUnit
	for try := 1; ; try++ {
		err := s.put(ctx, name, data)
		if try == conflictAttempts || minio.ToErrorResponse(err).Code != "ConditionalRequestConflict" {
			return s.explain(ctx, "put", name, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		wait = min(2*wait, minio.DefaultRetryCap)
	}
}

func (s *Store) put(ctx context.Context, name string, data []byte) error {
	sum := sha256.Sum256(data)
	return s.do(ctx, func(c *minio.Core) error {
		o := minio.PutObjectOptions{DisableContentSha256: true} // of the chunks; that of the whole is signed
		if !s.oneWriter {
			o.SetMatchETagExcept("*")
		}
		_, err := c.PutObject(ctx, s.at.bucket, s.at.key(name), bytes.NewReader(data), int64(len(data)), "", hex.EncodeToString(sum[:]), o)
		return err
	})
}

// Get returns an object, as [bucket.Store] says.
func (s *Store) Get(ctx context.Context, name string) (data []byte, err error) {
	if err := bucket.CheckName(name); err != nil {
		return nil, err
	}
	for range attempts {
		var broken bool
		if data, broken, err = s.get(ctx, name); !broken {
			break
		}
	}
	return data, s.explain(ctx, "get", name, err)
}

// get requests an object once. It reports whether the connection broke amid the object.
func (s *Store) get(ctx context.Context, name string) (data []byte, broken bool, err error) {
	err = s.do(ctx, func(c *minio.Core) error {
		body, _, _, err := c.GetObject(ctx, s.at.bucket, s.at.key(name), minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		defer body.Close()
		data, err = io.ReadAll(io.LimitReader(body, bucket.MaxObject+1))
		broken = err != nil && ctx.Err() == nil
		return cmp.Or(ctx.Err(), err, bucket.CheckSize(name, int64(len(data))))
	})
	if err != nil {
		data = nil
	}
	return data, broken, err
}

// Delete removes an object, as [bucket.Store] says.
func (s *Store) Delete(ctx context.Context, name string) error {
	if err := bucket.CheckName(name); err != nil {
		return err
	}
	err := s.do(ctx, func(c *minio.Core) error {
		return c.RemoveObject(ctx, s.at.bucket, s.at.key(name), minio.RemoveObjectOptions{})
	})
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return nil
	}
	return s.explain(ctx, "delete", name, err)
}

// List returns objects, as [bucket.Store] says.
func (s *Store) List(ctx context.Context, o bucket.ListOptions) ([]bucket.Object, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	var list []bucket.Object
	err := s.do(ctx, func(c *minio.Core) (err error) {
		list, err = s.list(ctx, c, o)
		return err
	})
	if err != nil {
		return nil, s.explain(ctx, "list", "", err)
	}
	return o.Select(list), nil
}

func (s *Store) list(ctx context.Context, c *minio.Core, o bucket.ListOptions) (list []bucket.Object, err error) {
	request := minio.ListObjectsOptions{Prefix: s.at.key(o.Prefix), Recursive: !o.Shallow, MaxKeys: s.pageSize, FetchOwner: new(bool)}
	if o.After != "" && !o.Shallow { // services differ in what a common prefix has to be greater than
		request.StartAfter = s.at.key(o.After)
	}
	last, seen := "", 0
	for info := range c.ListObjectsIter(ctx, s.at.bucket, request) {
		name, ok := strings.CutPrefix(info.Key, s.at.prefix)
		if seen++; seen > cmp.Or(s.maxList, bucket.MaxList) {
			return nil, bucket.TooManyError{}
		}
		switch {
		case info.Err != nil:
			return nil, info.Err
		case !ok:
			continue
		case !o.Shallow && name <= last: // or a broken service would repeat its pages for ever
			return nil, &fault.Error{Code: fault.Failed, Message: s.at.host + " lists objects out of order"}
		}
		last = name
		list = append(list, bucket.Object{Name: name, Size: info.Size})
	}
	return list, ctx.Err() // the iteration ends without an error if ctx does
}
