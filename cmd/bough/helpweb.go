package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	documents "github.com/bough-dev/bough"
	"github.com/bough-dev/bough/cmd/bough/internal/manual"
	"github.com/bough-dev/bough/server/page"
	"github.com/urfave/cli/v2"
)

// helpWeb serves the manual until it is interrupted, and opens the page of a verb in a browser.
func (p *program) helpWeb(c *cli.Context) error {
	path := "/"
	if c.NArg() > 0 {
		page, err := p.manualPage(c.Args().Slice())
		if err != nil {
			return err
		}
		path = manual.Path(page.Name)
	}
	ctx, stop := untilInterrupt(c.Context)
	defer stop()
	var listener net.ListenConfig
	l, err := listener.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &http.Server{
		Handler:           p.site(),
		ReadHeaderTimeout: 10 * time.Second,
	}
	defer context.AfterFunc(ctx, func() { s.Close() })()
	address := "http://" + l.Addr().String() + path
	if p.json {
		err = p.printJSON(map[string]string{"url": address})
	} else {
		_, err = fmt.Fprintln(p.stdout, address)
	}
	if err == nil {
		err = p.stdout.Flush()
	}
	if err != nil {
		l.Close()
		return err
	}
	if !c.Bool("print") {
		go func() {
			if openBrowser(address) != nil {
				p.noteShared()("no browser was found; open the address above")
			}
		}()
	}
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// site returns the manual as a site.
func (p *program) site() *manual.Site {
	return manual.NewSite(documents.Documents, p.manualPages(), page.Style())
}
