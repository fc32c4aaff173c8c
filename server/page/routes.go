package page

import (
	"bytes"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"time"

	"github.com/bough-dev/bough/internal/keytable"
	"github.com/bough-dev/bough/internal/treepicture"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
)

// A route is a path of the page with the function that answers GET.
type route struct {
	path string // of http.ServeMux
	view func(*request) (view, error)
}

// views are the views.
func views() []route {
	return []route{
		{"/{$}", home},
		{"/c/{session}", showConversation},
		{"/k/{session}", showCheckpoint},
		{"/compare", showComparison},
		{"/merge", showMerge},
		{"/tree/{session}", showTree},
		{"/agents", showAgents},
		{"/agents/{name}", showAgent},
		{"/explore", showExplorations},
		{"/explore/{id}", showExploration},
		{"/explore/{id}/adopt", showAdoption},
		{"/replay", showReplayForm},
		{"/replay/{session}", showReplay},
		{"/files", showStates},
		{"/files/{state}", showState},
		{"/files/{state}/{path...}", showState},
		{"/files/raw/{state}/{path...}", showRaw},
		{"/files/diff", showDifference},
		{"/files/blame", showBlame},
		{"/files/log", showHistory},
		{"/files/bisect", showBisection},
		{"/files/restore", showRestore},
		{"/files/turn", showTurn},
		{"/suggest", showSuggestions},
		{"/remotes", showRemotes},
		{"/search", showSearch},
		{"/log", showLog},
		{"/trash", showTrash},
		{"/logout", showLogout},
		{"/piece/messages", showMessages},
		{"/piece/tree", sidebar},
		{"/image", showImage},
		{"/file/{sha256}", showFile},
	}
}

// A request is a request in progress for a view.
type request struct {
	*Page
	w  http.ResponseWriter
	r  *http.Request
	at events.Position // of the log, when the request arrived

	session   string                 // the session that the view shows, "" for none
	shownLeaf string                 // the end of its path
	tree      *workspace.MessageTree // of session
	forest    *workspace.Forest      // see trees
}

// A view is the answer to a request: a template with its data, bytes, or another place.
type view struct {
	Template string // in templates, without its extension
	Title    string // of the page, without the name of the program
	Data     any    // of the template
	Status   int    // 0 means 200

	Location string // where the browser goes instead, "" for nowhere

	Body []byte // is sent as it is, instead of a template
	Type string // the media type of Body
}

func (p *Page) routes() {
	for _, v := range views() {
		p.mux.HandleFunc("GET "+v.path, p.admitted(p.show(v.view)))
	}
	p.mux.HandleFunc("GET /static/{name}", static)
	p.mux.HandleFunc("GET /login", p.loginForm)
	p.mux.HandleFunc("POST /login", p.login)
	p.mux.HandleFunc("POST /logout", p.admitted(p.logout))
	p.mux.HandleFunc("GET "+EventsPath, p.admitted(p.events))
	p.mux.HandleFunc("POST /do/{verb...}", p.admitted(p.do))
}

// missing answers a path that the page does not have.
func missing(*request) (view, error) {
	return view{}, &failure{status: http.StatusNotFound, message: "the page has no such address"}
}

//go:embed static
var staticFiles embed.FS

// Style returns the style sheet of the page, for pages elsewhere that look like it.
func Style() []byte {
	data, err := fs.ReadFile(staticFiles, "static/style.css")
	if err != nil {
		panic(err) // it is part of the program
	}
	return data
}

// static sends a file of the page. It is the same for everyone, so it needs no cookie.
func static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	data, err := fs.ReadFile(staticFiles, path.Join("static", name))
	switch name {
	case "tree.css":
		data, err = []byte(treepicture.Style), nil
	case "keys.json":
		data, err = keytable.JSON(), nil
	}
	if err != nil || !fs.ValidPath(name) {
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", mediaType(name))
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", etag(data))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// mediaType returns the media type of a file of the page. That of the machine may be
// another one.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".json":
		return "application/json"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}
