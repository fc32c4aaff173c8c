package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/bough-dev/bough/server/internal/exchange"
)

// A web page can make a browser send requests to this machine, and can let its own
// host name resolve to this machine (DNS rebinding), but it cannot choose the Host,
// Origin and Sec-Fetch-Site headers that the browser sends. So these headers
// identify requests from pages.

// refusal returns why a request is refused independent of its content, or nil.
func (s *Server) refusal(r *http.Request) error {
	if !s.hostAllowed(r) {
		return exchange.Fail(http.StatusForbidden, "this server does not accept the host name "+exchange.Quote(r.Host), "use localhost or 127.0.0.1")
	}
	if origin := r.Header["Origin"]; len(origin) > 0 && (len(origin) > 1 || origin[0] != "http://"+r.Host) {
		return exchange.Fail(http.StatusForbidden, "web pages may not use this server", "the request comes from "+exchange.Quote(strings.Join(origin, ", ")))
	}
	return nil
}

// fromElsewhere returns the error for a request that a browser sends for a page of
// another server, or nil.
func fromElsewhere(r *http.Request) error {
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
		return nil
	default:
		return exchange.Fail(http.StatusForbidden, "web pages may not use this server", "the request is "+exchange.Quote(site))
	}
}

// hostAllowed reports whether the Host of the request can only refer to this
// machine. A name that others can let resolve to this machine is not allowed.
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

// authorized reports whether the request has the token. Its duration does not
// depend on the token.
func (s *Server) authorized(r *http.Request) bool {
	brought, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return false
	}
	a, b := sha256.Sum256([]byte(brought)), sha256.Sum256([]byte(s.opts.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
