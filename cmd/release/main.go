// Command release builds the files of a release: archives for Linux, macOS and Windows, packages
// for Debian and for systems with rpm, a formula for Homebrew, a manifest for Scoop, and the
// checksums of all of them.
//
//	cd cmd/release && go run . -out ../../dist
//
// The files depend only on the commit and on the version of Go: every time in them is that of the
// commit, or $SOURCE_DATE_EPOCH, and no path of the machine is in them. It is a module of its own,
// so that bough does not depend on what makes packages.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

// released are the systems that a release has files for.
var released = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	var o options
	flags.StringVar(&o.source, "source", "../..", "the `FOLDER` with a clone of bough")
	flags.StringVar(&o.out, "out", "", "write the files into the new `FOLDER`")
	flags.StringVar(&o.tag, "tag", "", "fail unless the version is that of the git `TAG`, such as v0.1.0")
	flags.StringVar(&o.program, "program", "", "the `FILE` of a bough of the same commit for this machine, which writes the man pages; by default it is built")
	names := flags.String("targets", "", "build only for these systems, `OS/ARCH,...`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || o.out == "" {
		return fmt.Errorf("usage: release -out FOLDER [-targets OS/ARCH,...] [-tag TAG]")
	}
	o.targets = released
	if *names != "" {
		o.targets = nil
		for name := range strings.SplitSeq(*names, ",") {
			system, arch, ok := strings.Cut(name, "/")
			if !ok {
				return fmt.Errorf("a target is OS/ARCH, not %q", name)
			}
			o.targets = append(o.targets, target{system, arch})
		}
	}
	return release(ctx, o)
}
