package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/tidwall/gjson"
)

const incoming = StateDir + "/incoming" // an attachment that does not have its final name yet

// KeepFile stores an attachment in files/, before anything refers to it.
func (tx *Tx) KeepFile(f lines.File) error {
	if !lines.ValidSum(f.SHA256) {
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q is not a SHA-256", f.SHA256)}
	}
	name := lines.FilePath(f.SHA256)
	switch err := CheckFile(tx.View.Root, f.SHA256); {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
	default:
		if err := tx.discardFile(name); err != nil {
			return err
		}
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	if err := durable.MakeDir(tx.View.Root, lines.FilesDir); err != nil {
		return err
	}
	sum := sha256.New()
	_, err = durable.Replace(tx.View.Root, incoming, func(w *durable.Writer) error {
		_, err := io.Copy(io.MultiWriter(w, sum), in)
		if err == nil && hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
			err = &fault.Error{Code: fault.Usage, Message: "the content of the attachment does not match its SHA-256"}
		}
		return err
	})
	if err != nil {
		return err
	}
	return tx.MoveNow(incoming, name)
}

// MoveNow renames a file durably, outside of the batch.
func (tx *Tx) MoveNow(from, to string) error {
	b := durable.NewBatch(tx.View.Root)
	defer b.Discard()
	if err := b.Move(from, to); err != nil {
		return err
	}
	_, later, err := b.Commit(tx.View.Ctx)
	return errors.Join(err, later)
}

// discardFile moves a file whose content does not match its attachment's hash to
// the trash.
func (tx *Tx) discardFile(name string) error {
	to, err := tx.InTrash(name)
	if err != nil {
		return err
	}
	return tx.MoveNow(name, to)
}

// CheckFile reads an attachment and returns an error if its content does not
// match its hash.
func CheckFile(root *os.Root, sum string) error {
	f, err := OpenFile(root, sum)
	if err != nil {
		return err
	}
	defer f.Close()
	is := sha256.New()
	if _, err := io.Copy(is, f); err != nil {
		return err
	}
	if hex.EncodeToString(is.Sum(nil)) != sum {
		return fmt.Errorf("its SHA-256 is %x", is.Sum(nil))
	}
	return nil
}

// OpenFile opens an attachment, which must be a regular file.
func OpenFile(root *os.Root, sum string) (*os.File, error) {
	return durable.OpenRegular(root, lines.FilePath(sum))
}

// Attached returns the SHA-256 of each attachment that a message refers to.
func Attached(m session.Message) (sums []string) {
	content := gjson.GetBytes(m.Raw, "content")
	if !content.IsArray() {
		return nil
	}
	for _, part := range content.Array() {
		if sum := part.Get("asset.sha256").Str; lines.ValidSum(sum) {
			sums = append(sums, sum)
		}
	}
	return sums
}
