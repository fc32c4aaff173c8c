package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// A web page can have a browser send requests to this machine, and can have its own
// name lead to this machine (DNS rebinding), but it cannot choose the Host, Origin
// and Sec-Fetch-Site headers that the browser sends. So they say whether a request
// comes from a page.

// refusal says why a request is not answered whatever it asks for, nil if it may be.
func (s *Server) refusal(r *http.Request) error {
	if !s.hostAllowed(r) {
		return &failure{http.StatusForbidden, "this server does not go by the name " + quote(r.Host), "use localhost or 127.0.0.1"}
	}
	if origin := r.Header["Origin"]; len(origin) > 0 && (len(origin) > 1 || origin[0] != "http://"+r.Host) {
		return &failure{http.StatusForbidden, "web pages may not use this server", "the request comes from " + quote(strings.Join(origin, ", "))}
	}
	return nil
}

// fromElsewhere says why a request is not answered that a browser sends for a page of
// another server, nil if it does not.
func fromElsewhere(r *http.Request) error {
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
		return nil
	default:
		return &failure{http.StatusForbidden, "web pages may not use this server", "the request is " + quote(site)}
	}
}

// hostAllowed reports whether the request was sent to a name that only this machine
// goes by. A name that leads here by somebody else's choice is not one.
func (s *Server) hostAllowed(r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	for _, allowed := range s.opts.Hosts {
		if allowed != "" && strings.EqualFold(host, allowed) {
			return true
		}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if addr.Unmap().IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.AddrPort().Addr().Unmap() == addr.Unmap()
}

// authorized reports whether the request brings the token. How long it takes to say
// tells nothing of the token.
func (s *Server) authorized(r *http.Request) bool {
	brought, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return false
	}
	a, b := sha256.Sum256([]byte(brought)), sha256.Sum256([]byte(s.opts.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
