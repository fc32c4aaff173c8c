// Assistant is a small desktop assistant: an example of a program that embeds
// bough. Its conversations are a workspace, which other programs can read and
// change meanwhile.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"github.com/bough-dev/bough/examples/assistant/desk"
	"github.com/bough-dev/bough/examples/assistant/models"
	"github.com/bough-dev/bough/examples/assistant/window"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
)

func main() {
	dir := flag.String("w", "", "the `folder` of the conversations; the default is in the user's configuration folder")
	id := flag.String("model", "script", "the model that answers: "+models.Forms)
	flag.Parse()
	if err := run(*dir, *id); err != nil {
		log.SetFlags(0)
		log.Fatal(err)
	}
}

func run(dir, id string) error {
	if dir == "" {
		config, err := os.UserConfigDir()
		if err != nil {
			return err
		}
		dir = filepath.Join(config, "bough-assistant")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if _, err := models.Open(ctx, id); err != nil {
		return err
	}
	w, err := workspace.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	d, err := desk.New(ctx, w, "assistant", agents.TurnOptions{Model: id, Models: models.Open})
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	a := app.NewWithID("dev.bough.assistant")
	window.New(ctx, a, d, fyne.Do).ShowAndRun()
	return nil
}
