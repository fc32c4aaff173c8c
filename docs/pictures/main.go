//go:build pictures

// Command pictures makes the pictures of the page of 'bough serve', and the frames of the
// animation in README.md. docs/pictures/make runs it.
//
// It serves workspaces made of the fixtures with a clock that only it moves, so that each
// run shows the same times. Ids are random in a workspace; here they have a fixed seed.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", "", "the `folder` for the pictures")
	only := flag.String("only", "", "make only `views` or animation")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *only); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out, only string) error {
	b, err := startBrowser(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	if only != "animation" {
		if err := views(b, out); err != nil {
			return err
		}
	}
	if only != "views" {
		return animation(b, out)
	}
	return nil
}
