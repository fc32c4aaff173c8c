package main

import (
	"errors"
	"net"
	"strings"
	"testing"
)

// TestJoin: connections to both listeners are accepted, until they are closed.
func TestJoin(t *testing.T) {
	var both [2]net.Listener
	for i := range both {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		both[i] = l
	}
	j := join(both[0], both[1])
	if j.Addr().String() != both[0].Addr().String() {
		t.Errorf("the address is %v", j.Addr())
	}
	for _, l := range both {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got, err := j.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		if got.RemoteAddr().String() != c.LocalAddr().String() {
			t.Errorf("accepted %v, not %v", got.RemoteAddr(), c.LocalAddr())
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if _, err := j.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	for _, l := range both {
		if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
			c.Close()
			t.Errorf("%v is still open", l.Addr())
		}
	}
	if err := j.Close(); err == nil {
		t.Error("closed twice without an error")
	}
}

func TestBrowserCommand(t *testing.T) {
	for command, want := range map[string]string{
		"":                       "",
		" ":                      "",
		"firefox":                "firefox|URL",
		"firefox --new-tab %s":   "firefox|--new-tab|URL",
		"open -a Safari":         "open|-a|Safari|URL",
		"sh show.sh page=%s%s x": "sh|show.sh|page=URLURL|x",
	} {
		if got := strings.Join(browserCommand(command, "URL"), "|"); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
}
