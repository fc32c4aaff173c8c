package workspace

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

const (
	tokenFile = store.StateDir + "/token"
	// tokenPrefix is the prefix of tokens that bough makes. Programs for Acontext
	// check its first six letters.
	tokenPrefix = "sk-ac-bough-"
	tokenBytes  = 32
)

// Token returns the secret that clients of a server need: the content of
// .bough/token. The first call generates it. A user may replace it with a line
// of ASCII without spaces.
func (w *Workspace) Token(ctx context.Context) (token string, err error) {
	defer func() { err = store.Explained(err) }()
	if err := w.Make(ctx); err != nil {
		return "", err
	}
	root, err := w.store.Open(ctx)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if token, err := readToken(w.store, root); token != "" || err != nil {
		return token, err
	}
	err = w.store.WithLock(ctx, "token", func(root *os.Root) error {
		if token, err = readToken(w.store, root); token == "" && err == nil {
			token, err = makeToken(ctx, w.store, root)
		}
		return err
	})
	return token, err
}

// readToken returns the stored token, "" if there is none or it is incomplete.
func readToken(w *store.Store, root *os.Root) (string, error) {
	info, err := root.Lstat(tokenFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", &fault.Error{Code: fault.Refused, Message: tokenFile + " is no file", Hint: "bough does not follow a link to a secret; remove it, and bough creates a new token"}
	}
	data, err := durable.ReadFile(root, tokenFile)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	switch {
	case tokenTorn(token):
		return "", nil
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", &fault.Error{Code: fault.Damaged, Message: tokenFile + " has no valid token", Hint: "write a line of ASCII without spaces to it, or remove it, and bough creates a new one"}
	}
	if info.Mode()&0o044 != 0 && runtime.GOOS != "windows" {
		w.Opts.Note(tokenFile + " can be read by other users of this machine")
	}
	return token, nil
}

// tokenTorn reports whether a token is empty or the beginning of a generated
// one.
func tokenTorn(token string) bool {
	token = strings.Trim(token, "\x00")
	if strings.HasPrefix(token, tokenPrefix) {
		return len(token) < len(tokenPrefix)+base64.RawURLEncoding.EncodedLen(tokenBytes)
	}
	return strings.HasPrefix(tokenPrefix, token)
}

// makeToken replaces an invalid token with a new one. It creates a new file, so
// that the permissions are those of a secret.
func makeToken(ctx context.Context, w *store.Store, root *os.Root) (string, error) {
	secret := make([]byte, tokenBytes)
	if _, err := io.ReadFull(w.Opts.Random, secret); err != nil {
		return "", err
	}
	token := tokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	if err := durable.Remove(root, tokenFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	b := durable.NewBatch(root)
	defer b.Discard()
	if _, err := b.Create(tokenFile, durable.Bytes([]byte(token+"\n"))); err != nil {
		return "", err
	}
	_, _, err := b.Commit(ctx)
	return token, err
}
