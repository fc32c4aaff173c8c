package native

import (
	"fmt"
	"mime"
	"net/http"
	"path"
	"strconv"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
)

// contentPath is the path of the content of files of states.
const contentPath = prefix + "files/content"

// content sends the bytes of a file of a state, which may be anything: a browser saves them,
// and runs nothing in them.
func (o *Options) content(w http.ResponseWriter, r *http.Request) error {
	q, err := exchange.Query(r)
	if err != nil {
		return err
	}
	show, ok := api.Find("files/show")
	if !ok {
		panic("native: no verb files/show")
	}
	in, err := show.Parse(q)
	if err != nil {
		return err
	}
	shown, err := show.Call(r.Context(), o.Env, in)
	if err != nil {
		return err
	}
	e := shown.(*files.Entry)
	if e.Type != "file" {
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%s is a %s, not a file", e.Path, e.Type), Hint: "GET /v1/files/show describes it"}
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(e.Path)}))
	h.Set("Content-Length", strconv.Itoa(len(e.Content)))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	w.Write(e.Content)
	return nil
}
