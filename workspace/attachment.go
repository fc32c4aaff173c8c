package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/lines"
)

const filesDir = "files"

const incoming = stateDir + "/incoming" // an attachment that does not have its final name yet

// FilePath returns the path, relative to the workspace, of the attachment with
// a SHA-256.
func FilePath(sha256 string) string { return filesDir + "/" + sha256 }

// validSum reports whether s is a SHA-256 in lower-case hexadecimal.
func validSum(s string) bool {
	return len(s) == hex.EncodedLen(sha256.Size) && strings.Trim(s, "0123456789abcdef") == ""
}

// keepFile stores an attachment in files/, before anything refers to it.
func (tx *Tx) keepFile(f lines.File) error {
	if !validSum(f.SHA256) {
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q is not a SHA-256", f.SHA256)}
	}
	name := FilePath(f.SHA256)
	switch err := checkFile(tx.View.root, f.SHA256); {
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
	if err := durable.MakeDir(tx.View.root, filesDir); err != nil {
		return err
	}
	sum := sha256.New()
	_, err = durable.Replace(tx.View.root, incoming, func(w *durable.Writer) error {
		_, err := io.Copy(io.MultiWriter(w, sum), in)
		if err == nil && hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
			err = &fault.Error{Code: fault.Usage, Message: "the content of the attachment does not match its SHA-256"}
		}
		return err
	})
	if err != nil {
		return err
	}
	return tx.moveNow(incoming, name)
}

// moveNow renames a file durably, outside of the batch.
func (tx *Tx) moveNow(from, to string) error {
	b := durable.NewBatch(tx.View.root)
	defer b.Discard()
	if err := b.Move(from, to); err != nil {
		return err
	}
	_, later, err := b.Commit(tx.View.ctx)
	return errors.Join(err, later)
}

// discardFile moves a file whose content does not match its attachment's hash to
// the trash.
func (tx *Tx) discardFile(name string) error {
	to, err := tx.inTrash(name)
	if err != nil {
		return err
	}
	return tx.moveNow(name, to)
}

// checkFile reads an attachment and returns an error if its content does not
// match its hash.
func checkFile(root *os.Root, sum string) error {
	f, err := openFile(root, sum)
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

// openFile opens an attachment, which must be a regular file.
func openFile(root *os.Root, sum string) (*os.File, error) {
	return durable.OpenRegular(root, FilePath(sum))
}

// OpenFile opens the attachment with a SHA-256.
func (w *Workspace) OpenFile(ctx context.Context, sha256 string) (_ *os.File, err error) {
	defer func() { err = explained(err) }()
	if !validSum(sha256) {
		return nil, notFound("attachment", sha256)
	}
	root, err := w.store.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := openFile(root, sha256)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound("attachment", sha256)
	}
	return f, err
}
