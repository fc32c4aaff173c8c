package s3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace/fault"
)

// explain returns the error of a call for the object name, "" for a list.
func (s *Store) explain(ctx context.Context, op, name string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, bucket.TooManyError{}) {
		return err
	}
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	if !ok {
		return s.noAnswer(err)
	}
	e := &fault.Error{Code: fault.Refused, Err: err}
	switch {
	case answer.StatusCode == http.StatusNotImplemented && op == "put" && !s.oneWriter:
		return &bucket.NoCreateOnlyError{Err: err}
	case answer.Code == minio.NoSuchKey && op == "get":
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	switch answer.Code {
	case minio.PreconditionFailed:
		return bucket.ErrExists
	case minio.NoSuchBucket, minio.NoSuchKey: // the latter if there is no text in the answer
		e.Code = fault.NotFound
		e.Message = fmt.Sprintf("no bucket %s at %s", s.at.bucket, s.at.host)
		e.Hint = "create the bucket, or correct the address of the remote"
	case minio.AccessDenied, minio.AllAccessDisabled:
		e.Message = fmt.Sprintf("%s denies access to the bucket %s to the credentials of %s", s.at.host, s.at.bucket, s.source)
		e.Hint = fmt.Sprintf("they must be allowed to list the bucket, and to read, write and delete objects below %q", s.at.prefix)
	case minio.InvalidAccessKeyID, "XAdminUserNotFound": // the latter of versitygw
		e.Message = fmt.Sprintf("%s does not know the access key of %s", s.at.host, s.source)
		e.Hint = "check the credentials, and that they are for this service"
	case minio.SignatureDoesNotMatch:
		e.Message = fmt.Sprintf("%s rejects the secret key of %s", s.at.host, s.source)
		e.Hint = "check AWS_SECRET_ACCESS_KEY or the profile"
	case "ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired":
		e.Message = fmt.Sprintf("the session of %s has ended", s.source)
		e.Hint = "log in again, or set new credentials"
	case minio.RequestTimeTooSkewed:
		e.Message = fmt.Sprintf("the clock of this machine differs too much from that of %s", s.at.host)
		e.Hint = "set the clock"
	case minio.AuthorizationHeaderMalformed, minio.InvalidRegion, "PermanentRedirect", "TemporaryRedirect", "IllegalLocationConstraintException":
		e.Message = fmt.Sprintf("the bucket %s is not in the region %s", s.at.bucket, s.Region())
		e.Hint = "set AWS_REGION to the region of the bucket"
	default:
		return s.unexpected(answer, err)
	}
	return e
}

func (s *Store) unexpected(answer minio.ErrorResponse, err error) error {
	message := fmt.Sprintf("%s answers %s", s.at.host, answer.Code)
	if answer.Message != "" {
		message += fmt.Sprintf(": %.300s", answer.Message)
	}
	e := &fault.Error{Code: fault.Failed, Message: message, Err: err}
	if answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden {
		e.Code, e.Hint = fault.Refused, "check the credentials of "+s.source
	}
	return e
}

// noAnswer returns the error of a request without an answer.
func (s *Store) noAnswer(err error) error {
	e := &fault.Error{Code: fault.Failed, Message: fmt.Sprintf("the request to %s failed: %v", s.at.host, err), Err: err}
	sent, ok := errors.AsType[*url.Error](err)
	if !ok {
		return e
	}
	cause := sent.Err.Error()
	if strings.Contains(cause, "closed by foreign host") { // followed by the address
		cause = "the connection was closed"
	}
	e.Message = fmt.Sprintf("no answer from %s: %s", s.at.host, cause)
	e.Hint = "check the network, and the address of the remote"
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		e.Hint = "if the certificate is signed by an authority of your own, SSL_CERT_FILE names its file"
	}
	return e
}

// otherRegion returns the region that the store asks for, "" if err is not about that.
func otherRegion(err error) string {
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	if !ok {
		return ""
	}
	switch answer.Code {
	case minio.AuthorizationHeaderMalformed, minio.InvalidRegion, "PermanentRedirect", "TemporaryRedirect", "IllegalLocationConstraintException":
	default:
		if answer.StatusCode != http.StatusMovedPermanently && answer.StatusCode != http.StatusTemporaryRedirect {
			return ""
		}
	}
	if len(answer.Region) > 40 {
		return ""
	}
	for i := range len(answer.Region) {
		if c := answer.Region[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-') {
			return ""
		}
	}
	return answer.Region
}
