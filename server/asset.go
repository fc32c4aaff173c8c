package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/session"
)

// An attachment can be read in two ways: with the token, through a session whose
// messages refer to it, or by a signed link that may be given to others, for
// example to a page that shows the conversation. The response headers prevent
// browsers from showing an attachment as a page of this server.

// assetPath is the prefix of the path of every link.
const assetPath = "/api/v1/material/"

// A link is a signed address of an attachment.
type link struct {
	sha256  string
	name    string // file name, may be empty
	mime    string
	expires int64 // in seconds since 1970
}

// A publicURL is a link in Acontext's format.
type publicURL struct {
	URL    string `json:"url"`
	Expire string `json:"expire_at"`
}

// linkHours is the validity of a link. It is extended by up to an hour, so that the
// link is the same for an hour and its response can be cached.
const linkHours = 24

func (c *call) publicURL(sum, name, mime string) publicURL {
	until := c.opts.Now().Truncate(time.Hour).Add((linkHours + 1) * time.Hour)
	l := link{sum, name, mime, until.Unix()}
	q := url.Values{"expires": {strconv.FormatInt(l.expires, 10)}, "signature": {c.sign(l)}}
	if name != "" {
		q.Set("name", name)
	}
	if mime != "" {
		q.Set("type", mime)
	}
	u := url.URL{Scheme: "http", Host: c.r.Host, Path: assetPath + sum, RawQuery: q.Encode()}
	return publicURL{u.String(), session.Bough.Time(until)}
}

// sign returns the signature of l, which requires the token.
func (s *Server) sign(l link) string {
	h := hmac.New(sha256.New, []byte(s.opts.Token))
	fmt.Fprintf(h, "bough asset\n%q %q %q %d", l.sha256, l.name, l.mime, l.expires)
	return hex.EncodeToString(h.Sum(nil))
}

// sharedAsset answers a request for a link.
func sharedAsset(c *call) (*answer, error) {
	q := c.query()
	l := link{c.r.PathValue("sha256"), q.text("name"), q.text("type"), 0}
	l.expires, _ = strconv.ParseInt(q.text("expires"), 10, 64)
	if q.err != nil {
		return nil, q.err
	}
	if !hmac.Equal([]byte(q.text("signature")), []byte(c.sign(l))) {
		return nil, exchange.Fail(http.StatusForbidden, "the link is invalid", "its signature does not match")
	}
	if !time.Unix(l.expires, 0).After(c.opts.Now()) {
		return nil, exchange.Fail(http.StatusForbidden, "the link has expired", "read the messages again to get a new one")
	}
	c.w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	c.w.Header().Set("Cache-Control", "private, max-age=3600, immutable")
	return nil, c.serveAsset(l)
}

// serveAsset writes an attachment so that browsers treat it as a download.
func (c *call) serveAsset(l link) error {
	f, err := c.workspace.OpenFile(c.r.Context(), l.sha256)
	if err != nil {
		return err
	}
	defer f.Close()
	h := c.w.Header()
	if _, _, err := mime.ParseMediaType(l.mime); err != nil {
		l.mime = "application/octet-stream"
	}
	h.Set("Content-Type", l.mime)
	h.Set("Content-Disposition", disposition(l.name))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("ETag", strconv.Quote(l.sha256))
	http.ServeContent(c.w, c.r, "", time.Time{}, f)
	return nil
}

// disposition returns the Content-Disposition for saving a file under its name.
func disposition(name string) string {
	if name != "" {
		if s := mime.FormatMediaType("attachment", map[string]string{"filename": name}); s != "" {
			return s
		}
	}
	return "attachment"
}

// downloadAsset answers a request for an attachment that a message of the session
// refers to.
func downloadAsset(c *call) (*answer, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	q := c.query()
	key := q.text("s3_key")
	switch {
	case q.err != nil:
		return nil, q.err
	case key == "":
		return nil, exchange.Wrong("s3_key is missing", "it is the key of an asset")
	}
	all, err := c.workspace.Line(name).All(c.r.Context(), session.ReadOptions{})
	if err != nil {
		return nil, err
	}
	for i := range all.Nodes {
		for _, p := range content.Read(all.Nodes[i].Raw).Parts {
			if p.Asset != nil && p.Asset.S3Key == key {
				return nil, c.serveAsset(link{sha256: p.Asset.SHA256, name: p.Filename, mime: p.Asset.MIME})
			}
		}
	}
	f, err := c.workspace.OpenFile(c.r.Context(), path.Base(key))
	if err != nil {
		return nil, err
	}
	f.Close()
	return nil, exchange.Fail(http.StatusForbidden, "no message of this session refers to "+exchange.Quote(key), "request it through the session that does")
}
