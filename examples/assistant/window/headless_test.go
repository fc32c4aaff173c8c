//go:build !display

package window

import (
	"image/png"
	"os"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// currentApp returns an app of Fyne's test driver, which needs no display.
func currentApp(t *testing.T) fyne.App { return test.NewTempApp(t) }

// perform calls f on the goroutine of the user interface: that of the test.
func perform(f func()) { f() }

// photograph writes a picture of what a canvas shows.
func photograph(c fyne.Canvas, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return png.Encode(f, c.Capture())
}
