package server

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/bounded"
	"github.com/bough-dev/bough/server/internal/exchange"
)

// An upload is a file of a body, kept in a temporary file until its message is
// stored.
type upload struct {
	field  string // its field name, by which parts of a message refer to it
	name   string // file name on the client
	mime   string
	sha256 string
	size   int64
	temp   *os.File
}

func (u *upload) open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(u.temp, 0, u.size)), nil
}

// A form is a body with files.
type form struct {
	payload []byte // the field payload: the JSON body
	uploads []upload
}

// remove deletes the temporary files.
func (f *form) remove() {
	for _, u := range f.uploads {
		u.temp.Close()
		os.Remove(u.temp.Name()) // if that was not possible earlier
	}
}

// file returns the upload of a field, or nil.
func (f *form) file(field string) *upload {
	for i := range f.uploads {
		if f.uploads[i].field == field {
			return &f.uploads[i]
		}
	}
	return nil
}

func isForm(r *http.Request) bool {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && media == "multipart/form-data"
}

// form reads a body with files. The caller must remove the form, even if there is
// an error.
func (c *call) form() (*form, error) {
	f := &form{}
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, c.opts.Limits.Upload)
	parts, err := c.r.MultipartReader()
	if err != nil {
		return f, exchange.Wrong("the body cannot be parsed", err)
	}
	for {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			return f, exchange.BodyError(err)
		}
		if part.FileName() != "" {
			err = c.add(f, part)
		} else if part.FormName() == "payload" {
			f.payload, err = c.payload(part)
		}
		if err != nil {
			return f, err
		}
	}
}

func (c *call) payload(part *multipart.Part) ([]byte, error) {
	body, err := bounded.ReadAll(part, c.opts.Limits.Body)
	switch {
	case errors.As(err, new(*bounded.TooLongError)):
		return nil, exchange.Fail(http.StatusRequestEntityTooLarge, "the payload is too large", fmt.Sprintf("at most %d bytes are accepted", c.opts.Limits.Body))
	case err != nil:
		return nil, exchange.BodyError(err)
	}
	return body, nil
}

// add adds a file.
func (c *call) add(f *form, part *multipart.Part) (err error) {
	if len(f.uploads) == c.opts.Limits.Files {
		return exchange.Wrong("too many files", fmt.Sprintf("at most %d are accepted", c.opts.Limits.Files))
	}
	name := part.FileName()
	if !utf8.ValidString(name) {
		return exchange.Wrong("the name of a file is not valid UTF-8", exchange.Quote(name))
	}
	temp, err := os.CreateTemp("", "bough-upload-*")
	if err != nil {
		return err
	}
	os.Remove(temp.Name()) // so that it disappears however this program ends; not on Windows
	u := upload{field: part.FormName(), name: name, temp: temp}
	defer func() { f.uploads = append(f.uploads, u) }()
	content := bufio.NewReaderSize(part, 32<<10)
	start, _ := content.Peek(512) // for http.DetectContentType; an error comes again from Copy
	u.mime = mimeOf(part.Header.Get("Content-Type"), start)
	hash := sha256.New()
	if u.size, err = io.Copy(io.MultiWriter(temp, hash), content); err != nil {
		return uploadError(err)
	}
	u.sha256 = hex.EncodeToString(hash.Sum(nil))
	return nil
}

// uploadError returns the failure for an error of reading a file of a body and
// storing it: an internal error if the local disk failed.
func uploadError(err error) error {
	var disk *fs.PathError
	if errors.As(err, &disk) {
		return err
	}
	return exchange.BodyError(err)
}

// mimeOf returns the declared type of a file, or if there is none, the type
// detected from its first bytes.
func mimeOf(declared string, start []byte) string {
	media, _, err := mime.ParseMediaType(declared)
	if err != nil || media == "application/octet-stream" {
		return http.DetectContentType(start)
	}
	return declared
}
