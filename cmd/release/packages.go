package main

import (
	"bytes"
	"os"
	"path"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

const (
	homepage    = "https://github.com/bough-dev/bough"
	description = "Checkpoints, branches and restores AI conversations"
)

// packages returns the packages of a target.
func (b *build) packages(t target, program []byte) (made []file, err error) {
	dir, err := os.MkdirTemp("", "bough-package-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, p := range []struct {
		format nfpm.Packager
		zsh    string // the folder of completions
	}{{deb.Default, "vendor-completions"}, {rpm.DefaultRPM, "site-functions"}} {
		installed, err := b.installed(program, p.zsh)
		if err != nil {
			return nil, err
		}
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "bough", Arch: t.arch, Platform: t.system, Version: b.version, Section: "utils", Priority: "optional",
			Maintainer: "The maintainers of bough <" + homepage + ">", Description: description, Homepage: homepage, License: "MIT",
			DisableGlobbing: true, MTime: b.time,
		})
		info.RPM.BuildHost = "localhost" // by default the name of this machine
		if info.Contents, err = contents(dir, installed, b); err != nil {
			return nil, err
		}
		var out bytes.Buffer
		if err := p.format.Package(info, &out); err != nil {
			return nil, err
		}
		made = append(made, file{name: p.format.ConventionalFileName(info), data: out.Bytes()})
	}
	return made, nil
}

// installed returns the files of a package, with the paths at which they are installed.
func (b *build) installed(program []byte, zsh string) ([]file, error) {
	list := []file{{"/usr/bin/bough", program, 0o755}}
	for _, f := range b.files {
		switch dir, name := path.Split(f.name); {
		case dir == "man/":
			data, err := gzipped(f.data)
			if err != nil {
				return nil, err
			}
			list = append(list, file{"/usr/share/man/man1/" + name + ".gz", data, f.mode})
		case name == "bough.bash":
			list = append(list, file{"/usr/share/bash-completion/completions/bough", f.data, f.mode})
		case name == "bough.fish":
			list = append(list, file{"/usr/share/fish/vendor_completions.d/bough.fish", f.data, f.mode})
		case name == "_bough":
			list = append(list, file{"/usr/share/zsh/" + zsh + "/_bough", f.data, f.mode})
		case name == "LICENSE":
			list = append(list, file{"/usr/share/doc/bough/copyright", f.data, f.mode})
		default:
			list = append(list, file{"/usr/share/doc/bough/" + name, f.data, f.mode})
		}
	}
	return list, nil
}

// contents writes files below a folder, where nfpm reads them.
func contents(dir string, list []file, b *build) (files.Contents, error) {
	var all files.Contents
	for _, f := range list {
		source := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(source, f.data, 0o644); err != nil {
			return nil, err
		}
		all = append(all, &files.Content{
			Source: source, Destination: f.name,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: b.time},
		})
	}
	return all, nil
}
