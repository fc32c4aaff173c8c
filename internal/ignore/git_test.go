package ignore_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/ignore"
	"github.com/bough-dev/bough/internal/testsize"
)

// TestGit: git and bough agree on the pattern that decides, for random pattern files in
// random directories.
func TestGit(t *testing.T) {
	for _, fold := range []bool{false, true} {
		t.Run(fmt.Sprintf("fold=%v", fold), func(t *testing.T) {
			j := newJudge(t)
			random := rand.New(rand.NewPCG(21, 7))
			files := map[string]string{".git/user": patterns(random, j), ".git/info/exclude": patterns(random, j)}
			var paths []string
			for i := range testsize.Of(20, 60, 1000) {
				top := fmt.Sprintf("%d/", i)
				for range 1 + random.IntN(3) {
					dir := top
					for range random.IntN(3) {
						dir += pick(random, names) + "/"
					}
					files[dir+ignore.GitName] = patterns(random, j)
				}
				for range 20 {
					path := top
					for range random.IntN(4) {
						path += pick(random, names) + "/"
					}
					paths = append(paths, path+pick(random, names))
				}
			}
			paths = withDirectories(paths, files)
			for name, data := range files {
				j.write(t, name, data)
			}
			j.compare(t, fold, sourcesIn(j, files), paths)
		})
	}
}

// sourcesIn returns the sources of a directory among files.
func sourcesIn(j *judge, files map[string]string) func(dir string) []ignore.Source {
	return func(dir string) (list []ignore.Source) {
		if dir == "" {
			list = append(list,
				ignore.Source{Name: j.dir + "/.git/user", Data: []byte(files[".git/user"])},
				ignore.Source{Name: ".git/info/exclude", Data: []byte(files[".git/info/exclude"])})
		}
		if data, ok := files[dir+ignore.GitName]; ok {
			list = append(list, ignore.Source{Name: dir + ignore.GitName, Data: []byte(data)})
		}
		return list
	}
}

// withDirectories returns paths without those that other paths need as directories, and these.
func withDirectories(paths []string, files map[string]string) []string {
	dirs := map[string]bool{}
	for _, p := range paths {
		for dir := range parents(p) {
			dirs[dir] = true
		}
	}
	for f := range files {
		for dir := range parents(f) {
			dirs[dir] = !strings.HasPrefix(dir, ".git/")
		}
	}
	delete(dirs, "")
	var list []string
	for _, p := range paths {
		if !dirs[p+"/"] {
			list = append(list, p)
		}
	}
	for dir, is := range dirs {
		if is {
			list = append(list, dir)
		}
	}
	return list
}

var (
	names = []string{"a", "b", "ab", "aab", "A", "B", "Ab", "a.b", ".a", "a b", "a ", "#a", "!a", "a\\", "[a]", "*", "a-b", "]", "-", "\xff", "é", "1", "_", "\t", "a\rb", "a\tb",
		"abcabcab", "\x7f", "\v", "^"}
	pieces = []string{"a", "b", "A", "B", "a", "b", "ab", "*", "*", "**", "**/", "/**", "/**/", "?", "/", "/", "[ab]", "[!a]", "[^a]", "[a-b]", "[A-B]", "[A]", "[!B]", "\\\\ ", "[[:alpha:]]", "[![:upper:]]",
		"[[:punct:]]", "[[:space:]b]", "[[:cntrl:]]", "[", "]", "[]a]", "[a/b]", "[a-]", "[\\a-b]", "[[:x:]]", "[[:", ":]", "\\", "\\a", "\\A", "\\*", "\\/", "\\ ", " ", "\t", "#", "!", ".", "-", "\xff", "é", "1", "\r", "\x00", "***"}
)

func pick(random *rand.Rand, list []string) string { return list[random.IntN(len(list))] }

// patterns returns a file of random patterns that all versions of git understand alike.
func patterns(random *rand.Rand, j *judge) string {
	var b strings.Builder
	if random.IntN(20) == 0 {
		b.WriteString("\ufeff")
	}
	for range random.IntN(6) {
		if random.IntN(4) == 0 {
			b.WriteString("!")
		}
		if random.IntN(6) == 0 {
			b.WriteString("/")
		}
		for range 1 + random.IntN(5) {
			b.WriteString(pick(random, pieces))
		}
		if random.IntN(8) == 0 {
			b.WriteString("/")
		}
		b.WriteString(pick(random, []string{"\n", "\n", "\n", "\r\n", " \n", "\n\n"}))
	}
	data := b.String()
	if random.IntN(3) == 0 {
		data = strings.TrimSuffix(data, "\n")
	}
	if j.midWord {
		data = midWordPattern.ReplaceAllString(data, "$1*$2")
	}
	return data
}

// TestClasses: git and bough agree on each byte in each class.
func TestClasses(t *testing.T) {
	j := newJudge(t)
	files := map[string]string{}
	var paths []string
	for _, class := range strings.Fields("alnum alpha blank cntrl digit graph lower print punct space upper xdigit other") {
		files[class+"/"+ignore.GitName] = "x[[:" + class + ":]]\ny[![:" + class + ":]a-cX-Z]\n"
		j.write(t, class+"/"+ignore.GitName, files[class+"/"+ignore.GitName])
		for b := 1; b < 256; b++ {
			if b != '/' {
				paths = append(paths, class+"/x"+string([]byte{byte(b)}), class+"/y"+string([]byte{byte(b)}))
			}
		}
	}
	for _, fold := range []bool{false, true} {
		j.compare(t, fold, sourcesIn(j, files), paths)
	}
}

// FuzzGit compares git and bough on two pattern files, of a directory and its parent, and on
// paths.
func FuzzGit(f *testing.F) {
	for _, c := range cases {
		f.Add(c.patterns, "", strings.Join(append(c.ignored, c.included...), "\x00"), false)
	}
	f.Add("/a/**/b\n!c\n", "c\n!/d/\n", "a/b\x00a/x/b\x00dir/c\x00dir/d/e", true)
	j := newJudge(f)
	f.Fuzz(func(t *testing.T, top, below, list string, fold bool) {
		if j.midWord && (midWordPattern.MatchString(top) || midWordPattern.MatchString(below)) {
			return
		}
		var paths []string
		for path := range strings.SplitSeq(list, "\x00") {
			path = strings.TrimSuffix(path, "/")
			if valid(path) && path != "dir" && len(paths) < 50 { // dir is a directory
				paths = append(paths, path)
			}
		}
		if len(paths) == 0 {
			return
		}
		files := map[string]string{ignore.GitName: top, "dir/" + ignore.GitName: below}
		for name, data := range files {
			j.write(t, name, data)
		}
		j.compare(t, fold, sourcesIn(j, files), paths)
	})
}

// valid reports whether a path can be one of a file that git takes.
func valid(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") || len(name) > 255 {
			return false
		}
	}
	return len(path) < 3000
}
