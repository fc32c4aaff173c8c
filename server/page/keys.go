package page

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Keys are the secrets of the page of a workspace. Programs of the same user share them, in
// a file of the workspace. A program that can read them can make codes, so no message
// between the programs is needed: 'bough open' makes the code that it gives to the browser.
type Keys struct {
	// Name is the first label of the page's name, NAME.localhost. A program that knows it
	// can ask a browser for the cookie on another port.
	Name string `json:"name"`
	// Secret authenticates cookies and codes.
	Secret []byte `json:"secret"`

	// Run identifies a run of the server. A code is valid for one run, because the codes that
	// were used are forgotten with it.
	Run string `json:"-"`
}

// CodeTime is how long a code is valid.
const CodeTime = 5 * time.Minute

// cookieTime is how long a cookie is valid.
const cookieTime = 30 * 24 * time.Hour

const (
	nameBytes   = 10
	secretBytes = 32
)

func newKeys() *Keys {
	name, secret := make([]byte, nameBytes), make([]byte, secretBytes)
	rand.Read(name)
	rand.Read(secret)
	return &Keys{Name: "bough-" + encode32(name), Secret: secret}
}

// NewRun returns the name of a new run of a server.
func NewRun() string {
	run := make([]byte, nameBytes)
	rand.Read(run)
	return encode32(run)
}

func encode32(b []byte) string { return strings.ToLower(lettersOnly().EncodeToString(b)) }

func lettersOnly() *base32.Encoding { return base32.StdEncoding.WithPadding(base32.NoPadding) }

// Host returns the name of the page.
func (k *Keys) Host() string { return k.Name + ".localhost" }

// An address is a kind of address to which a request was sent.
type address int

const (
	elsewhere address = iota
	ownName           // that of the page: no other program has it
	loopback          // one of the machine, which programs on other ports have too
)

// addressOf returns the kind of the address in a Host header.
func (k *Keys) addressOf(host string) address {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, k.Host()) {
		return ownName
	}
	if strings.EqualFold(host, "localhost") {
		return loopback
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Unmap().IsLoopback() {
		return loopback
	}
	return elsewhere
}

// mac returns the authentication code of a text for a purpose.
func (k *Keys) mac(purpose string, parts ...string) []byte {
	h := hmac.New(sha256.New, k.Secret)
	h.Write([]byte("bough page " + purpose))
	for _, part := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return h.Sum(nil)
}

// A code has the second until which it is valid, and a random number, and their
// authentication code.
const (
	codePayload = 8
	codeMAC     = 12
)

// Code returns a new code for the run of the server.
func (k *Keys) Code(now time.Time) string {
	b := make([]byte, codePayload, codePayload+codeMAC)
	rand.Read(b)
	binary.BigEndian.PutUint32(b, uint32(now.Add(CodeTime).Unix()))
	b = append(b, k.mac("code", k.Run, string(b))[:codeMAC]...)
	return encode32(b)
}

// checkCode returns until when a code is valid. ok is false if it is not one of this run, in
// the form in which it was made: the decoder accepts others.
func (k *Keys) checkCode(text string) (until time.Time, ok bool) {
	b, err := lettersOnly().DecodeString(strings.ToUpper(text))
	if err != nil || len(b) != codePayload+codeMAC || encode32(b) != text {
		return until, false
	}
	payload, mac := b[:codePayload], b[codePayload:]
	if !hmac.Equal(mac, k.mac("code", k.Run, string(payload))[:codeMAC]) {
		return until, false
	}
	return time.Unix(int64(binary.BigEndian.Uint32(payload)), 0), true
}

// cookieName returns the name of the cookie at an address. A browser sends the cookies of a
// loopback address to all its ports, so the name has the port.
func (k *Keys) cookieName(host string) string {
	if k.addressOf(host) == ownName {
		return "bough"
	}
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		port = "80"
	}
	return "bough-" + port
}

const cookiePayload = 16 // the second until which it is valid, and a random number

// cookie returns a new cookie for an address. It is valid for that address alone.
func (k *Keys) cookie(host string, now time.Time) *http.Cookie {
	b := make([]byte, cookiePayload)
	rand.Read(b)
	binary.BigEndian.PutUint64(b, uint64(now.Add(cookieTime).Unix()))
	b = append(b, k.mac("cookie", strings.ToLower(host), string(b))...)
	return &http.Cookie{
		Name: k.cookieName(host), Value: base64.RawURLEncoding.EncodeToString(b), Path: "/",
		MaxAge: int(cookieTime.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
}

// admits reports whether a request has a valid cookie for its address.
func (k *Keys) admits(r *http.Request, now time.Time) bool {
	for _, c := range r.CookiesNamed(k.cookieName(r.Host)) {
		b, err := base64.RawURLEncoding.DecodeString(c.Value)
		if err != nil || len(b) != cookiePayload+sha256.Size {
			continue
		}
		payload, mac := b[:cookiePayload], b[cookiePayload:]
		made := hmac.Equal(mac, k.mac("cookie", strings.ToLower(r.Host), string(payload)))
		if made && now.Unix() <= int64(binary.BigEndian.Uint64(payload)) {
			return true
		}
	}
	return false
}
