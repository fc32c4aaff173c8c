package place_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bough-dev/bough/internal/place"
)

// same compares paths with the separators of any system.
func same(a, b string) bool { return filepath.ToSlash(a) == filepath.ToSlash(b) }

func TestRefuse(t *testing.T) {
	none := func(string) string { return "" }
	linux := place.Machine{System: "linux", Home: "/home/ada", Temp: "/scratch", Env: none,
		UserDirs: []byte("# comment\nXDG_DESKTOP_DIR=\"$HOME/Schreibtisch\"\nXDG_DOWNLOAD_DIR=\"/data/in\"\nXDG_MUSIC_DIR=\"$HOME/Musik\"\nXDG_DOCUMENTS_DIR=\"$HOME/\n")}
	mac := place.Machine{System: "darwin", Home: "/Users/ada", Temp: "/private/var/folders/x/T", Env: none}
	windows := place.Machine{System: "windows", Home: "/C/Users/ada", Temp: "/C/Users/ada/AppData/Local/Temp", Env: func(name string) string {
		return map[string]string{"OneDrive": "/C/Users/ada/OneDrive", "SystemRoot": "/C/Windows"}[name]
	}}
	for _, c := range []struct {
		machine place.Machine
		refused []string
		fine    []string
	}{
		{linux,
			[]string{"/", "/home", "/home/ada", "/home/ada/Desktop", "/home/ada/Documents", "/home/ada/Downloads", "/home/ada/Schreibtisch", "/data/in", "/tmp", "/var/tmp", "/scratch"},
			[]string{"/home/ada/work", "/home/ada/Desktop/work", "/home/ada/Downloads/x", "/home/eve", "/tmp/x", "/scratch/x", "/home/ada/Musik", "/home/ada/desktop", "/srv", "/data", "/var"}},
		{mac,
			[]string{"/", "/Users", "/Users/ada", "/Users/ada/Desktop", "/Users/ada/Documents", "/private/var/folders/x/T", "/tmp", "/Users/ada/Library/Mobile Documents/com~apple~CloudDocs/Documents"},
			[]string{"/Users/ada/code", "/Users/ada/Documents/code", "/private/var/folders/x/T/y"}},
		{windows,
			[]string{"/", "/C", "/C/Users", "/C/Users/ada", "/C/Users/ada/OneDrive", "/C/Users/ada/OneDrive/Desktop", "/C/Users/ada/AppData/Local/Temp", "/C/Windows/Temp"},
			[]string{"/C/Users/ada/OneDrive/code", "/C/code", "/C/Users/ada/AppData/Local/Temp/x"}},
		{place.Machine{System: "linux", Temp: "/tmp", Env: none}, []string{"/", "/tmp"}, []string{"/home", "/work"}},
	} {
		for _, dir := range c.refused {
			if place.Refuse(filepath.FromSlash(dir), c.machine.Places(), same) == "" {
				t.Errorf("%s: %s is not refused", c.machine.System, dir)
			}
		}
		for _, dir := range c.fine {
			if why := place.Refuse(filepath.FromSlash(dir), c.machine.Places(), same); why != "" {
				t.Errorf("%s: %s is refused: %s", c.machine.System, dir, why)
			}
		}
	}
}

// TestReal: a folder is refused under each of its names.
func TestReal(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(home, "Desktop", "work")
	if err := os.MkdirAll(work, 0o777); err != nil {
		t.Fatal(err)
	}
	m := place.Machine{System: runtime.GOOS, Home: home, Temp: os.TempDir(), Env: os.Getenv}
	for dir, refused := range map[string]bool{
		home:                            true,
		filepath.Dir(home):              true,
		filepath.Join(home, "Desktop"):  true,
		filepath.Join(work, "..", ".."): true,
		work:                            false,
		filepath.Join(home, "missing"):  false,
		os.TempDir():                    true,
		filepath.VolumeName(home) + string(filepath.Separator): true,
	} {
		if got := place.Refuse(dir, m.Places(), place.Same) != ""; got != refused {
			t.Errorf("%s: refused is %v", dir, got)
		}
	}
	t.Setenv("XDG_CONFIG_HOME", home)
	if err := os.WriteFile(filepath.Join(home, "user-dirs.dirs"), []byte("XDG_DOWNLOAD_DIR=\""+filepath.ToSlash(work)+"\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if place.Refuse(work, place.Here().Places(), place.Same) == "" {
		t.Errorf("the folder Downloads of the user is not refused")
	}
}
