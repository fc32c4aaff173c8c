package page

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"html/template"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/bough-dev/bough/convert/html"
	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

//go:embed templates
var templateFiles embed.FS

// templates are parsed once, when the first page is drawn.
var templates struct {
	once sync.Once
	all  *template.Template
}

// funcs are the functions that templates call.
func funcs() template.FuncMap {
	return template.FuncMap{"code": func(text string) template.HTML { return template.HTML(html.Code(text)) }}
}

// execute executes the template of a name, without its extension.
func execute(name string, data any) ([]byte, error) {
	templates.once.Do(func() {
		templates.all = template.Must(template.New("").Funcs(funcs()).ParseFS(templateFiles, "templates/*.html"))
	})
	var b bytes.Buffer
	err := templates.all.ExecuteTemplate(&b, name+".html", data)
	return b.Bytes(), err
}

// A shell is the data of what all views share.
type shell struct {
	Title     string
	View      string // the name of the template in Main
	Workspace string
	At        string // the position in the log that the page shows
	Path      string // of the request, to go back to
	Query     string // of the search
	Said      *said  // what a form did, nil for nothing
	Tree      template.HTML
	Main      template.HTML
}

// show returns the handler of a view.
func (p *Page) show(f func(*request) (view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &request{Page: p, w: w, r: r}
		defer p.recover(c)
		var err error
		if c.at, err = p.workspace.Position(r.Context()); err != nil {
			p.send(c, p.explained(r, err))
			return
		}
		v, err := f(c)
		if err != nil {
			v = p.explained(r, err)
		}
		p.send(c, v)
	}
}

// send sends a view, in the shell unless the client wants a fragment.
func (p *Page) send(c *request, v view) {
	status := cmp.Or(v.Status, http.StatusOK)
	switch {
	case v.Location != "":
		http.Redirect(c.w, c.r, v.Location, http.StatusSeeOther)
		return
	case v.Body != nil:
		c.w.Header().Set("Content-Type", v.Type)
		c.w.WriteHeader(status)
		c.w.Write(v.Body)
		return
	}
	main, err := execute(v.Template, v.Data)
	if err == nil && !wantsFragment(c.r) {
		main, err = p.shell(c, v, main)
	}
	if err != nil {
		p.opts.Log(fmt.Sprintf("%s: %v", c.r.Pattern, err))
		p.plain(c.w, &failure{status: http.StatusInternalServerError})
		return
	}
	sendHTML(c.w, status, main)
}

// shell returns the document of a view.
func (p *Page) shell(c *request, v view, main []byte) ([]byte, error) {
	s := shell{
		Title:     v.Title,
		View:      v.Template,
		Workspace: filepath.Base(p.workspace.Dir()),
		At:        c.at.String(),
		Path:      withoutSaid(c.r.URL),
		Query:     c.r.URL.Query().Get("q"),
		Said:      c.said(),
		Main:      template.HTML(main), // escaped by html/template
	}
	tree, err := sidebar(c)
	if err != nil {
		tree = p.explained(c.r, err) // the view itself may have all that it needs
	}
	side, err := execute(tree.Template, tree.Data)
	if err != nil {
		return nil, err
	}
	s.Tree = template.HTML(side)
	return execute("shell", s)
}

// withoutSaid returns an address as a path to go back to.
func withoutSaid(u *url.URL) string {
	q := u.Query()
	q.Del(saidField)
	return localPath((&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: q.Encode()}).String())
}

// sendHTML sends a document. Errors are ignored, because the client has disconnected then.
func sendHTML(w http.ResponseWriter, status int, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	w.Write(page)
}

// An errorView is the data of an error.
type errorView struct {
	Title      string // a few words
	Message    string
	Hint       string
	Candidates []candidate
	Back       string // the page that sent a form, "" for none
	Action     string // of the form, if Typed is not nil
	Typed      []typed
}

// A candidate is something that an ambiguous name may refer to.
type candidate struct {
	Href string
	Text string
	Time string
}

// explained returns the view of an error, and logs it unless it is the client's fault.
func (p *Page) explained(r *http.Request, err error) view {
	f, data := explain(err)
	if f.status == http.StatusInternalServerError {
		p.opts.Log(fmt.Sprintf("%s: %v", r.Pattern, err))
	}
	if r.Method == http.MethodPost {
		data.Back = backPath(r, r.PostForm)
		data.Action, data.Typed = r.URL.Path, typedIn(r.PostForm)
	}
	data.Title = errorTitle(f.status)
	return view{Template: "error", Title: data.Title, Data: data, Status: f.status}
}

// explain returns the status and the texts of an error.
func explain(err error) (*failure, errorView) {
	var own *failure
	if errors.As(err, &own) {
		return own, errorView{Message: own.Error(), Hint: own.hint}
	}
	e := workspace.Explain(err)
	data := errorView{Message: e.Message, Hint: e.Hint}
	var several *fault.AmbiguousError
	if errors.As(err, &several) {
		for _, c := range several.Candidates {
			text := cmp.Or(c.Text, c.Title, string(c.Message), string(c.Session))
			one := candidate{Text: text, Time: c.Time}
			if c.Session != "" {
				one.Href = sessionPath(string(c.Session), string(c.Message))
			}
			data.Candidates = append(data.Candidates, one)
		}
	}
	return &failure{status: exchange.StatusOf(e.Code), message: e.Message, hint: e.Hint}, data
}

// errorTitle returns the heading of an error.
func errorTitle(status int) string {
	switch status {
	case http.StatusNotFound:
		return "Not found"
	case http.StatusConflict:
		return "This is not possible"
	case http.StatusServiceUnavailable:
		return "Busy"
	case http.StatusInternalServerError:
		return "This failed"
	}
	return "Invalid request"
}

// fail answers with an error, in the form that the client wants.
func (p *Page) fail(w http.ResponseWriter, r *http.Request, err error) {
	if wantsJSON(r) {
		p.failJSON(w, r, err)
		return
	}
	f, _ := explain(err)
	if f.status == http.StatusUnauthorized {
		p.plain(w, err)
		return
	}
	p.show(func(*request) (view, error) { return view{}, err })(w, r)
}

// plain answers with an error as text, to a client that may see nothing else.
func (p *Page) plain(w http.ResponseWriter, err error) {
	f, data := explain(err)
	text := data.Message
	if data.Hint != "" {
		text += "\n" + data.Hint
	}
	http.Error(w, text, cmp.Or(f.status, http.StatusInternalServerError))
}

// recover answers for a view that panicked.
func (p *Page) recover(c *request) {
	switch e := recover(); e {
	case nil:
	case http.ErrAbortHandler:
		panic(e)
	default:
		p.opts.Log(fmt.Sprintf("%s: %v\n%s", c.r.Pattern, e, debug.Stack()))
		p.plain(c.w, &failure{status: http.StatusInternalServerError})
	}
}

// etag returns the tag of a file of the page.
func etag(data []byte) string {
	h := fnv.New128a()
	h.Write(data)
	return `"` + hex.EncodeToString(h.Sum(nil)) + `"`
}
