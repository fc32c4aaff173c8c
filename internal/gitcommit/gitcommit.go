// Package gitcommit makes repositories of git that have one commit, with the bytes of its
// files as they are: no filter and no conversion of line ends applies.
package gitcommit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/gitcmd"
)

// ErrNoGit is the error if git is not installed.
var ErrNoGit = errors.New("git is not installed")

// An InsideError reports that a folder is in a repository.
type InsideError struct {
	Dir string
	Why string // what git says if it refuses the repository, else ""
}

func (e *InsideError) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("%s is in a git repository: %s", e.Dir, e.Why)
	}
	return e.Dir + " is in a git repository"
}

// A Commit is a commit to be made. Without an identity in the settings of git, its author is
// bough.
type Commit struct {
	Message string
	Time    time.Time
}

// The modes of a File.
const (
	Regular    = "100644"
	Executable = "100755"
	Link       = "120000"
)

// A File is a file of a commit.
type File struct {
	Path string // raw bytes, with slashes between names
	Mode string
	Data []byte // the content, or the target of a link
}

// Check returns an error if no repository may be made in the folder dir, which need not exist:
// an *InsideError or [ErrNoGit].
func Check(ctx context.Context, dir string) error {
	if _, err := exec.LookPath("git"); err != nil {
		return ErrNoGit
	}
	at := dir
	for {
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			break
		}
		if filepath.Dir(at) == at {
			break
		}
		at = filepath.Dir(at)
	}
	_, err := gitcmd.Run(ctx, at, nil, "rev-parse", "--git-dir")
	switch {
	case err == nil:
		return &InsideError{Dir: dir}
	case ctx.Err() != nil:
		return err
	case strings.Contains(err.Error(), "not a git repository (or any"):
		return nil
	}
	return &InsideError{dir, err.Error()}
}

// Create makes a repository in the folder dir, which must exist, with a commit of the files,
// and returns the id of the commit. It does not write the files to the folder. After an error
// there is no repository.
func Create(ctx context.Context, dir string, c Commit, files iter.Seq2[File, error]) (id string, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, Remove(dir))
		}
	}()
	if _, err := gitcmd.Run(ctx, dir, nil, "init", "--quiet"); err != nil {
		return "", err
	}
	branch, err := gitcmd.Run(ctx, dir, nil, "symbolic-ref", "HEAD")
	if err != nil {
		return "", err
	}
	s := &stream{ref: strings.TrimSpace(string(branch)), commit: c, author: author(ctx, dir), files: files}
	if err := s.load(ctx, dir); err != nil {
		return "", err
	}
	if _, err := gitcmd.Run(ctx, dir, nil, "read-tree", "HEAD"); err != nil {
		return "", err
	}
	out, err := gitcmd.Run(ctx, dir, nil, "rev-parse", "HEAD")
	return strings.TrimSpace(string(out)), err
}

// Remove removes the repository that Create made in the folder dir.
func Remove(dir string) error { return os.RemoveAll(filepath.Join(dir, ".git")) }

// Refresh makes the index that of the files that were written to the folder, so that git does
// not read them again.
func Refresh(ctx context.Context, dir string) error {
	_, err := gitcmd.Run(ctx, dir, nil, "update-index", "-q", "--refresh") // fails if a file differs
	if ctx.Err() != nil {
		return err
	}
	return nil
}

// author returns who commits, as git would record it without the time.
func author(ctx context.Context, dir string) string {
	out, err := gitcmd.Run(ctx, dir, nil, "-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")
	ident := strings.TrimSpace(string(out))
	if at := strings.LastIndexByte(ident, '>'); err == nil && at >= 0 {
		return ident[:at+1]
	}
	return "bough <>"
}

// A stream is the input of git fast-import.
type stream struct {
	ref    string
	commit Commit
	author string
	files  iter.Seq2[File, error]
}

// load makes the commit.
func (s *stream) load(ctx context.Context, dir string) error {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		b := bufio.NewWriter(w)
		err := s.write(b)
		if err == nil {
			err = b.Flush()
		}
		w.CloseWithError(err)
		written <- err
	}()
	_, err := gitcmd.Run(ctx, dir, r, "fast-import", "--quiet", "--force")
	r.Close() // git may have ended before it read everything
	if failed := <-written; failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
		return failed
	}
	return err
}

func (s *stream) write(w *bufio.Writer) error {
	at := fmt.Sprintf("%s %d +0000", s.author, s.commit.Time.Unix())
	fmt.Fprintf(w, "feature done\ncommit %s\nauthor %s\ncommitter %s\n", s.ref, at, at)
	data(w, []byte(s.commit.Message))
	for f, err := range s.files {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "M %s inline %s\n", f.Mode, quote(f.Path))
		if err := data(w, f.Data); err != nil {
			return err
		}
	}
	_, err := w.WriteString("done\n")
	return err
}

func data(w *bufio.Writer, b []byte) error {
	fmt.Fprintf(w, "data %d\n", len(b))
	w.Write(b)
	return w.WriteByte('\n')
}

// quote returns a path as a string of C.
func quote(path string) string {
	var b bytes.Buffer
	b.WriteByte('"')
	for _, c := range []byte(path) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
