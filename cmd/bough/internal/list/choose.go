package list

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
)

// ErrNone is the error if the user chose nothing.
var ErrNone = errors.New("nothing was chosen")

// Choose shows the items on a terminal and returns the index of the one that
// the user chose. It restores the screen.
func Choose(ctx context.Context, in io.Reader, out io.Writer, o Options) (int, error) {
	m := &chooser{NewPicker(ctx, o)}
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out)).Run()
	chosen, _ := m.Done()
	if errors.Is(err, tea.ErrInterrupted) || err == nil && chosen < 0 {
		return -1, ErrNone
	}
	return chosen, err
}

// A chooser is the bubbletea model of Choose.
type chooser struct{ *Picker }

func (m *chooser) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.Picker.Update(msg)
	if _, done := m.Done(); done {
		return m, tea.Quit
	}
	return m, cmd
}

func (m *chooser) View() tea.View {
	content, cursor := m.Picker.View()
	v := tea.NewView(content)
	if content != "" {
		v.AltScreen = true
		v.MouseMode = tea.MouseModeCellMotion
		v.Cursor = tea.NewCursor(cursor, 0)
	}
	return v
}
