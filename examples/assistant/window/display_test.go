//go:build display

package window

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
)

var shared fyne.App

// TestMain runs the tests beside the loop of the real user interface.
func TestMain(m *testing.M) {
	shared = app.NewWithID("dev.bough.assistant.test")
	code := 1
	shared.Lifecycle().SetOnStarted(func() {
		go func() {
			code = m.Run()
			fyne.Do(shared.Quit)
		}()
	})
	shared.Run()
	os.Exit(code)
}

// currentApp returns the app of the real display.
func currentApp(*testing.T) fyne.App { return shared }

// perform calls f on the goroutine of the user interface.
func perform(f func()) { fyne.DoAndWait(f) }

// photograph writes a picture of the display, when it no longer changes: a canvas
// is painted some time after a widget has changed.
func photograph(_ fyne.Canvas, file string) error {
	var last []byte
	for range 40 {
		time.Sleep(250 * time.Millisecond)
		data, err := exec.Command("import", "-window", "root", "png:-").Output()
		if err != nil {
			return err
		}
		if bytes.Equal(data, last) {
			break
		}
		last = data
	}
	return os.WriteFile(file, last, 0o666)
}
