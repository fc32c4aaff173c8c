package page

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// refusal returns why a request is refused independent of its content, or nil. Serves has
// checked the host.
func (p *Page) refusal(r *http.Request) error {
	if p.opts.Keys.addressOf(r.Host) == elsewhere {
		return &failure{status: http.StatusForbidden, message: "This server does not accept the host name " + r.Host}
	}
	if origin := r.Header["Origin"]; len(origin) > 0 && (len(origin) > 1 || origin[0] != "http://"+r.Host) {
		return fromElsewhere()
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		return fromElsewhere()
	}
	if p.cross.Check(r) != nil {
		return fromElsewhere()
	}
	return nil
}

func fromElsewhere() error {
	return &failure{
		status:  http.StatusForbidden,
		message: "Other web pages may not use this page",
		hint:    "If you followed a link, enter the address by hand.",
	}
}

// admits reports whether a request has the cookie.
func (p *Page) admits(r *http.Request) bool { return p.keys.current().admits(r, p.opts.Now()) }

// admitted returns h for requests that have the cookie. Others get the form for the code.
func (p *Page) admitted(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if p.admits(r) {
			h(w, r)
			return
		}
		switch {
		case wantsFragment(r) || wantsJSON(r) || r.URL.Path == EventsPath:
			p.fail(w, r, &failure{status: http.StatusUnauthorized, message: "This page needs a new code", hint: "Reload it to enter one."})
		case r.Method == http.MethodGet:
			p.askCode(w, r, http.StatusUnauthorized, loginView{To: r.URL.RequestURI()})
		default:
			r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
			r.ParseForm() // what is too long to be shown again is dropped
			p.askCode(w, r, http.StatusUnauthorized, loginView{
				To: backPath(r, r.PostForm), Problem: "This needs a new code. Nothing was changed.", Wrote: r.PostForm.Get(contentField),
			})
		}
	}
}

// showLogout shows the form that ends all sessions.
func showLogout(*request) (view, error) { return view{Template: "logout", Title: "Sign out"}, nil }

// logout ends the sessions of all browsers: no cookie that was given before is valid any more.
func (p *Page) logout(w http.ResponseWriter, r *http.Request) {
	if err := p.keys.renew(r.Context()); err != nil {
		p.fail(w, r, err)
		return
	}
	c := p.keys.current().cookie(r.Host, p.opts.Now())
	c.Value, c.MaxAge = "", -1
	http.SetCookie(w, c)
	redirect(w, r, "/login")
}

// openTime is how long a stream of events continues after its session has ended.
const openTime = 2 * time.Second

// events sends the events of the workspace, with the ids and data of the native API, until the
// session of the browser ends.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	look := time.NewTicker(openTime)
	defer look.Stop()
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				if !p.admits(r) {
					stop()
				}
			}
		}
	}()
	p.opts.Events.ServeHTTP(w, r.WithContext(ctx))
}

// loginForm shows the form for the code, unless the browser has the cookie.
func (p *Page) loginForm(w http.ResponseWriter, r *http.Request) {
	to := localPath(r.URL.Query().Get("to"))
	if p.admits(r) {
		redirect(w, r, to)
		return
	}
	p.askCode(w, r, http.StatusOK, loginView{To: to})
}

// maxLogin is the maximum size of the form with the code.
const maxLogin = 16 << 10

// login exchanges a code for the cookie.
func (p *Page) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	if err := r.ParseForm(); err != nil {
		p.plain(w, &failure{status: http.StatusBadRequest, message: "The form is invalid"})
		return
	}
	to := localPath(r.PostForm.Get("to"))
	switch p.codes.redeem(r.PostForm.Get("code")) {
	case accepted:
		http.SetCookie(w, p.keys.current().cookie(r.Host, p.opts.Now()))
		redirect(w, r, to)
	case expired:
		p.askCode(w, r, http.StatusUnauthorized, loginView{To: to, Problem: "This code was used before or has expired."})
	default:
		p.askCode(w, r, http.StatusUnauthorized, loginView{To: to, Problem: "This code is wrong."})
	}
}

// redirect sends the browser to a path of the page. The path always has a fragment: else the
// browser would keep that of the present address, which may be a code.
func redirect(w http.ResponseWriter, r *http.Request, to string) {
	if !strings.Contains(to, "#") {
		to += "#main"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// localPath returns a path of the page, with query and fragment, "/" if to is another
// address.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || u.User != nil ||
		!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		return "/"
	}
	return to
}

// A loginView is the data of the form for the code.
type loginView struct {
	To      string
	Problem string // why the last code, or a form, was refused
	Wrote   string // the message of a form that was refused
	Shared  bool   // programs on other ports of this address are sent the cookie
	Host    string
}

// askCode shows the form for the code.
func (p *Page) askCode(w http.ResponseWriter, r *http.Request, status int, v loginView) {
	v.Shared = p.opts.Keys.addressOf(r.Host) == loopback
	var err error
	if v.Host, _, err = net.SplitHostPort(r.Host); err != nil {
		v.Host = r.Host
	}
	page, err := execute("login", v)
	if err != nil {
		p.plain(w, err)
		return
	}
	sendHTML(w, status, page)
}

// codes are the codes of a running server, each for one use. Wrong codes are not limited: a
// code ends in an authentication code of 96 bits, so a million guesses a second for a year find
// one with a probability of 2^-51. A limit would let any program on the machine lock the user
// out.
type codes struct {
	keys *keyring
	now  func() time.Time

	mu   sync.Mutex
	used map[string]time.Time // until when each would be valid
}

func newCodes(k *keyring, now func() time.Time) *codes {
	return &codes{keys: k, now: now, used: map[string]time.Time{}}
}

// A verdict is the result of redeeming a code.
type verdict int

const (
	wrong verdict = iota
	accepted
	expired // or used
)

// redeem uses a code.
func (c *codes) redeem(text string) verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for used, until := range c.used {
		if now.After(until) {
			delete(c.used, used)
		}
	}
	text = strings.ToLower(strings.TrimSpace(text))
	until, ok := c.keys.current().checkCode(text)
	_, again := c.used[text]
	switch {
	case !ok:
		return wrong
	case again || now.After(until):
		return expired
	}
	c.used[text] = until
	return accepted
}

func wantsFragment(r *http.Request) bool { return r.Header.Get("Bough-Fragment") != "" }

func wantsJSON(r *http.Request) bool { return r.Header.Get("Accept") == "application/json" }

// A failure is an error with an HTTP status and texts for a person.
type failure struct {
	status  int
	message string
	hint    string
}

func (f *failure) Error() string { return cmp.Or(f.message, http.StatusText(f.status)) }
