package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

//go:embed bough.rb.tmpl
var formula string

//go:embed bough.json.tmpl
var scoop string

func sum(f file) string {
	s := sha256.Sum256(f.data)
	return hex.EncodeToString(s[:])
}

// manifests returns a formula for Homebrew and a manifest for Scoop, of the archives in made, if
// those that they name are there.
func (b *build) manifests(made []file) (files []file) {
	archive := func(system, arch string) *file {
		i := slices.IndexFunc(made, func(f file) bool {
			return strings.HasPrefix(f.name, b.archive(target{system, arch})+".") && !strings.HasSuffix(f.name, ".deb")
		})
		if i < 0 {
			return nil
		}
		return &made[i]
	}
	for _, m := range []struct {
		name, text string
		targets    []target
	}{
		{"bough.rb", formula, []target{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}}},
		{"bough.json", scoop, []target{{"windows", "amd64"}, {"windows", "arm64"}}},
	} {
		if slices.ContainsFunc(m.targets, func(t target) bool { return archive(t.system, t.arch) == nil }) {
			continue
		}
		t := template.Must(template.New(m.name).Option("missingkey=error").Funcs(template.FuncMap{
			"url": func(system, arch string) string {
				return homepage + "/releases/download/v" + b.version + "/" + archive(system, arch).name
			},
			"sum":    func(system, arch string) string { return sum(*archive(system, arch)) },
			"folder": func(system, arch string) string { return b.archive(target{system, arch}) },
		}).Parse(m.text))
		var out bytes.Buffer
		if err := t.Execute(&out, map[string]string{"Version": b.version, "Homepage": homepage, "Description": description}); err != nil {
			panic(err) // the templates are part of this program
		}
		files = append(files, file{name: m.name, data: out.Bytes()})
	}
	return files
}

// checksums returns the checksums of files, as sha256sum -c reads them.
func checksums(files []file) file {
	var b strings.Builder
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.name, b.name) }) {
		fmt.Fprintf(&b, "%s  %s\n", sum(f), f.name)
	}
	return file{name: "SHA256SUMS", data: []byte(b.String())}
}
