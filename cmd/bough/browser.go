package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cli/browser"
)

// browserWait is how long a browser may take to fail. Some commands end only with the
// browser.
const browserWait = 2 * time.Second

// openBrowser opens an address with the first command of $BROWSER that succeeds, else with
// the browser of the desktop.
func openBrowser(address string) error {
	for _, command := range strings.Split(os.Getenv("BROWSER"), string(os.PathListSeparator)) {
		words := browserCommand(command, address)
		if words == nil {
			continue
		}
		cmd := exec.Command(words[0], words[1:]...)
		if slices.Contains(textBrowsers(), filepath.Base(words[0])) {
			cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
			return cmd.Run()
		}
		if begin(cmd.Run) == nil {
			return nil
		}
	}
	if !hasDesktop() {
		return errors.New("no desktop")
	}
	browser.Stdout, browser.Stderr = io.Discard, io.Discard
	return begin(func() error { return browser.OpenURL(address) })
}

// begin calls f, and returns its error, or nil if it takes long.
func begin(f func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(browserWait):
		return nil
	}
}

// browserCommand returns the words of a command of $BROWSER, nil if it is empty. The address
// takes the place of %s, or follows.
func browserCommand(command, address string) []string {
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil
	}
	if !strings.Contains(command, "%s") {
		return append(words, address)
	}
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, "%s", address)
	}
	return words
}

// textBrowsers are browsers that need the terminal.
func textBrowsers() []string {
	return []string{"w3m", "lynx", "links", "links2", "elinks", "www-browser"}
}

// hasDesktop reports whether there may be a browser with a window. Without a display, a
// desktop's command could open a browser that needs the terminal.
func hasDesktop() bool {
	switch runtime.GOOS {
	case "windows", "darwin":
		return true
	}
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}
