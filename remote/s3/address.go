package s3

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/bough-dev/bough/workspace/fault"
)

// amazon is the host of S3 itself. The client adds the region.
const amazon = "s3.amazonaws.com"

// An address is where the objects are.
type address struct {
	host   string // with the port, if it is not the default
	secure bool   // over TLS
	bucket string
	prefix string // "", or a path that ends in a slash
}

// key returns the key of an object in the bucket.
func (a address) key(name string) string { return a.prefix + name }

func (a address) String() string {
	u := url.URL{Scheme: "https", Host: a.host, Path: "/" + a.bucket + "/" + a.prefix}
	switch {
	case a.host == amazon:
		u = url.URL{Scheme: "s3", Host: a.bucket, Path: "/" + a.prefix}
	case !a.secure:
		u.Scheme = "http"
	}
	return u.String()
}

// parse parses an address. Its errors do not repeat parts that may be secret.
func parse(s string) (address, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return address{}, badAddress("it is not a URL")
	case u.User != nil:
		return address{}, &fault.Error{
			Code:    fault.Usage,
			Message: "the address of a store must not contain a user or a password",
			Hint:    whereCredentials,
		}
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return address{}, badAddress("it must have a host and a path only")
	}
	path := strings.TrimPrefix(u.Path, "/")
	var a address
	switch u.Scheme {
	case "s3":
		a = address{host: amazon, secure: true, bucket: u.Host, prefix: path}
	case "https", "http":
		a = address{host: u.Host, secure: u.Scheme == "https"}
		a.bucket, a.prefix, _ = strings.Cut(path, "/")
	default:
		return address{}, badAddress(fmt.Sprintf("it has the scheme %q", u.Scheme))
	}
	if a.prefix = strings.Trim(a.prefix, "/"); a.prefix != "" {
		a.prefix += "/"
	}
	return a, a.check(u)
}

// check returns an error if a must not be used. It is that of u.
func (a address) check(u *url.URL) error {
	switch {
	case u.Hostname() == "" && u.Scheme == "s3", a.bucket == "":
		return badAddress("it has no bucket")
	case u.Hostname() == "":
		return badAddress("it has no host")
	case !a.secure && !loopback(u.Hostname()):
		return &fault.Error{Code: fault.Refused, Message: "http is allowed for this machine only: " + u.Hostname(), Hint: "use https"}
	case u.Scheme != "s3" && strings.Contains(u.Hostname(), ".s3") && strings.HasSuffix(u.Hostname(), ".amazonaws.com"):
		return &fault.Error{Code: fault.Usage, Message: "the host " + u.Hostname() + " contains a bucket", Hint: "write it as s3://BUCKET/PREFIX"}
	case s3utils.IsS3ExpressBucket(a.bucket):
		return &fault.Error{Code: fault.Refused, Message: "directory buckets cannot be used, because they do not list objects in order: " + a.bucket}
	}
	valid := s3utils.CheckValidBucketName
	if u.Scheme == "s3" {
		valid = s3utils.CheckValidBucketNameStrict
	}
	if err := valid(a.bucket); err != nil {
		return badAddress(fmt.Sprintf("%q is not the name of a bucket: %v", a.bucket, err))
	}
	if _, err := minio.New(a.host, &minio.Options{Secure: a.secure}); err != nil {
		return badAddress(fmt.Sprintf("the store cannot be at %q", a.host))
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(a.prefix, "/"), "/") {
		if part == "." || part == ".." || part == "" && a.prefix != "" || strings.ContainsFunc(part, control) {
			return badAddress(fmt.Sprintf("%q is not the beginning of names of objects", a.prefix))
		}
	}
	if len(a.prefix) > maxPrefix {
		return badAddress(fmt.Sprintf("the path has %d bytes; at most %d are allowed", len(a.prefix), maxPrefix))
	}
	return nil
}

// maxPrefix is the maximum length of a prefix in bytes: keys have at most 1,024.
const maxPrefix = 500

func control(r rune) bool { return r < ' ' || r == 0x7f || r == '�' || r == '\\' }

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func badAddress(why string) error {
	return &fault.Error{
		Code:    fault.Usage,
		Message: "the address of the store is invalid: " + why,
		Hint:    "it is s3://BUCKET/PREFIX, or https://HOST/BUCKET/PREFIX for another service than S3",
	}
}
