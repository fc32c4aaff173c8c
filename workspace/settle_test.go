package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
)

// TestDoctorForeignWriter: doctor loses no write of a program that rewrites a session in
// several writes, again and again, in whatever state it reads the file.
func TestDoctorForeignWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openSpace(t, dir, 0)
	id := s.new("Bread")
	s.say("one", "two", "three")
	whole := s.read(session.FileName(id))
	name := filepath.Join(dir, filepath.FromSlash(session.FileName(id)))
	w, err := workspace.Open(t.Context(), dir, &workspace.Options{Settle: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		half := len(whole) / 2
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
			if err == nil {
				_, err = f.WriteString(whole[:half])
			}
			time.Sleep(5 * time.Millisecond) // it works on the rest
			if err == nil {
				_, err = f.WriteString(whole[half:])
			}
			if err == nil {
				err = f.Close()
			}
			if err != nil {
				stopped <- err
				return
			}
		}
	}()
	damaged := 0
	for range testsize.Of(1, 1, 2) {
		report, err := w.Doctor(t.Context(), doctor.Options{Fix: true})
		if err != nil {
			t.Error(err)
		}
		for _, p := range report.Problems {
			if p.Kind == doctor.DamagedSession {
				damaged++
				if p.Fixed {
					t.Errorf("doctor fixes %+v", p)
				}
			}
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	for _, kept := range s.trash() {
		if strings.HasSuffix(kept, id+".json") {
			t.Errorf("the trash holds %s", kept)
		}
	}
	if got := s.read(session.FileName(id)); got != whole {
		t.Errorf("the session is %d bytes, want %d", len(got), len(whole))
	}
	t.Logf("doctor read a torn session %d times", damaged)
}

// TestDoctorSettles: a torn session that was just written is repaired once it no longer
// changes, and one whose writer finishes meanwhile is left alone.
func TestDoctorSettles(t *testing.T) {
	t.Parallel()
	for _, finishes := range []bool{false, true} {
		t.Run(fmt.Sprint("finishes ", finishes), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := openSpace(t, dir, 0)
			id := s.new("Bread")
			s.say("one", "two")
			whole := s.read(session.FileName(id))
			s.write(session.FileName(id), whole[:len(whole)-150])
			w, err := workspace.Open(t.Context(), dir, &workspace.Options{Settle: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				if finishes {
					time.Sleep(100 * time.Millisecond) // while doctor waits for the file to settle
					done <- os.WriteFile(filepath.Join(dir, filepath.FromSlash(session.FileName(id))), []byte(whole), 0o600)
					return
				}
				done <- nil
			}()
			report, err := w.Doctor(t.Context(), doctor.Options{Fix: true})
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if err != nil || !report.OK {
				t.Errorf("finishes %v: doctor finds %+v, %v", finishes, report, err)
			}
			kept := len(s.trash()) > 0
			if kept == finishes || finishes && s.read(session.FileName(id)) != whole {
				t.Errorf("finishes %v: the trash holds %q", finishes, s.trash())
			}
		})
	}
}
