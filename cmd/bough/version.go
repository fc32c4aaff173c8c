package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/urfave/cli/v2"
)

// version is what bough --version prints.
const version = "0.1.0"

func (p *program) versionVerb() verb {
	return verb{
		name:  "version",
		short: "print the version, and what the program was built from",
		long: `Prints the version, the commit and its time, and the version of Go. A program that was built
outside of a clone, such as by 'go run', has no commit; one that was built from a clone with changes
that were not committed is marked as modified. With --json, the modules that are part of the program are
listed too, with the checksums by which Go verified them.`,
		example:    "bough version\nbough version --json",
		standalone: func(*cli.Context) error { return p.printBuild() },
	}
}

// A buildInfo is what the program was built from: the document of 'bough version'.
type buildInfo struct {
	Version  string     `json:"version"`
	Commit   string     `json:"commit"`      // "" if unknown
	Time     *time.Time `json:"commit_time"` // nil if unknown
	Modified bool       `json:"modified"`    // the clone had other changes
	Go       string     `json:"go"`
	OS       string     `json:"os"`
	Arch     string     `json:"arch"`
	Tags     string     `json:"tags"` // build tags, separated by commas
	Cgo      bool       `json:"cgo"`
	Modules  []module   `json:"modules"`
}

// A module is part of the program.
type module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum"` // as in go.sum; "" for one that was replaced by a folder
}

// buildOf returns what a program with the information of Go was built from, nil for none.
func buildOf(info *debug.BuildInfo) buildInfo {
	b := buildInfo{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Modules: []module{}}
	if info == nil {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
				b.Time = &t
			}
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "-tags":
			b.Tags = s.Value
		case "CGO_ENABLED":
			b.Cgo = s.Value == "1"
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Modules = append(b.Modules, module{m.Path, m.Version, m.Sum})
	}
	return b
}

// thisBuild returns what this program was built from.
func thisBuild() buildInfo {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info)
}

func (p *program) printBuild() error {
	b := thisBuild()
	if p.json {
		return p.printJSON(b)
	}
	commit := cmp.Or(b.Commit, "unknown")
	if b.Modified {
		commit += ", modified"
	}
	fmt.Fprintf(p.stdout, "bough version %s\ncommit %s\n", version, commit)
	if b.Time != nil {
		fmt.Fprintf(p.stdout, "of %s\n", b.Time.Format(time.DateTime+" MST"))
	}
	_, err := fmt.Fprintf(p.stdout, "built with %s for %s/%s\n", b.Go, b.OS, b.Arch)
	return err
}

func (p *program) printVersion() error {
	if p.json {
		return p.printJSON(thisBuild())
	}
	_, err := fmt.Fprintf(p.stdout, "bough version %s\n", version)
	return err
}
