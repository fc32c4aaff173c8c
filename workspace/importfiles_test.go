package workspace_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/imports"
)

// TestImportFiles imports every transcript in the fixtures of convert and in the folder
// $BOUGH_SAMPLES, twice, exports it in other formats, imports the exports, which changes
// nothing, and imports it piece by piece. Each fixture is exported in two formats, or one
// with -short, and each sample in all.
func TestImportFiles(t *testing.T) {
	t.Parallel()
	files := 0
	for _, dir := range []string{filepath.Join("..", "convert", "testdata"), os.Getenv("BOUGH_SAMPLES")} {
		if dir == "" {
			continue
		}
		fixture := dir != os.Getenv("BOUGH_SAMPLES")
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || filepath.Ext(path) == ".txtar" {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			f := convert.Detect(data[:min(len(data), convert.HeadSize)])
			if f == nil {
				return nil
			}
			files++
			random := rand.New(rand.NewPCG(uint64(files), 17))
			t.Run(filepath.Base(path), func(t *testing.T) {
				comesAndGoes(t, f, path, fixture, random)
				_, problems, _ := f.ReadAll(bytes.NewReader(data))
				if !f.Sessions && len(data) < 200<<10 && len(problems) == 0 {
					want := imported(t, f, data)
					for range testsize.Of(1, 1, 3) {
						cut := 1 + random.IntN(len(data)-1)
						if got := imported(t, f, data[:cut], data); got != want {
							t.Errorf("cut after %d bytes: imported twice it has\n%s\nimported once\n%s", cut, without(got, want), without(want, got))
						}
					}
				}
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 20 {
		t.Fatalf("only %d files", files)
	}
	t.Logf("%d files", files)
}

// comesAndGoes imports a file and imports its exports.
func comesAndGoes(t *testing.T, f *convert.Format, path string, some bool, random *rand.Rand) {
	s := openSpace(t, t.TempDir(), 0)
	o := imports.Options{Format: f}
	list, err := s.Import(t.Context(), []string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Import(t.Context(), []string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range again.Imported {
		if r.Session != "" && r.Status != imports.Unchanged {
			t.Errorf("again: %+v", r)
		}
	}
	count := len(s.every())
	for n, r := range list.Imported {
		if r.Session == "" || n >= 3 {
			continue
		}
		for _, to := range formatsBothWays(t) {
			if some && random.IntN(testsize.Of(20, 10, 5)) > 0 {
				continue
			}
			e, err := s.Export(t.Context(), string(r.Session), workspace.ExportOptions{Format: to, Tree: to.Branches})
			if err != nil {
				t.Errorf("%s: %v", to.Name, err)
				continue
			}
			back, err := s.Import(t.Context(), []string{writeFile(t, "back", string(e.Data))}, imports.Options{Format: to})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range back.Imported {
				if b.Session != "" && (b.Status != imports.Unchanged || b.Session != r.Session) {
					t.Errorf("%s: %+v", to.Name, b)
				}
			}
		}
	}
	if now := len(s.every()); now != count {
		t.Errorf("%d messages, were %d", now, count)
	}
	if count > 0 && !f.Sessions { // where orphans are not noted
		healthy(t, s)
	}
}
