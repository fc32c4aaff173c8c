package server

import (
	"bytes"
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
)

// An upload is a file of a body, kept in a temporary file until the message that it
// comes with is stored.
type upload struct {
	field  string // what the parts of a message name it by
	name   string // of the file, as the client has it
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
	payload []byte // the field of that name: what a body without files would be
	uploads []upload
}

// remove deletes the temporary files.
func (f *form) remove() {
	for _, u := range f.uploads {
		u.temp.Close()
		os.Remove(u.temp.Name()) // where that was not possible before
	}
}

// file returns the upload of a field, nil if there is none.
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

// form reads a body with files. What it returns is to be removed also with an error.
func (c *call) form() (*form, error) {
	f := &form{}
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, c.opts.Limits.Upload)
	parts, err := c.r.MultipartReader()
	if err != nil {
		return f, wrong("the body cannot be read", err)
	}
	for {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			return f, bodyError(err)
		}
		if part.FileName() != "" {
			err = c.take(f, part)
		} else if part.FormName() == "payload" {
			f.payload, err = c.payload(part)
		}
		if err != nil {
			return f, err
		}
	}
}

func (c *call) payload(part *multipart.Part) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(part, c.opts.Limits.Body+1))
	if err != nil {
		return nil, bodyError(err)
	}
	if int64(len(body)) > c.opts.Limits.Body {
		return nil, &failure{http.StatusRequestEntityTooLarge, "the payload is too large", fmt.Sprintf("at most %d bytes are taken", c.opts.Limits.Body)}
	}
	return body, nil
}

// take keeps a file.
func (c *call) take(f *form, part *multipart.Part) (err error) {
	if len(f.uploads) == c.opts.Limits.Files {
		return wrong("too many files", fmt.Sprintf("at most %d are taken at once", c.opts.Limits.Files))
	}
	name := part.FileName()
	if !utf8.ValidString(name) {
		return wrong("the name of a file is not valid UTF-8", quote(name))
	}
	temp, err := os.CreateTemp("", "bough-upload-*")
	if err != nil {
		return err
	}
	os.Remove(temp.Name()) // so that nothing stays of it, however this program ends; not on Windows
	u := upload{field: part.FormName(), name: name, temp: temp}
	defer func() { f.uploads = append(f.uploads, u) }()
	hash, start := sha256.New(), &head{}
	if u.size, err = io.Copy(io.MultiWriter(temp, hash, start), part); err != nil {
		return uploadError(err)
	}
	u.sha256 = hex.EncodeToString(hash.Sum(nil))
	u.mime = mimeOf(part.Header.Get("Content-Type"), start.Bytes())
	return nil
}

// uploadError says what went wrong with reading a file of a body and keeping it, which
// is the fault of the client only if it is not that of the disk here.
func uploadError(err error) error {
	var disk *fs.PathError
	if errors.As(err, &disk) {
		return err
	}
	return bodyError(err)
}

// mimeOf returns what a file is: what the client says, or where that says nothing,
// what it begins like.
func mimeOf(declared string, start []byte) string {
	media, _, err := mime.ParseMediaType(declared)
	if err != nil || media == "application/octet-stream" {
		return http.DetectContentType(start)
	}
	return declared
}

// A head is the first bytes of what is written to it.
type head struct{ bytes.Buffer }

func (h *head) Write(b []byte) (int, error) {
	const enough = 512 // for http.DetectContentType
	if n := enough - h.Len(); n > 0 {
		h.Buffer.Write(b[:min(n, len(b))])
	}
	return len(b), nil
}
