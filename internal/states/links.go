package states

import (
	"slices"

	"github.com/bough-dev/bough/internal/durable"
)

// linksFile has a line for each link, oldest first. Lines are never changed.
const linksFile = Dir + "/links.jsonl"

// A Link says what a folder held when a message was the newest of its session.
type Link struct {
	SessionID string `json:"session_id,omitempty"`
	MessageID string `json:"message_id,omitempty"`
	PromptID  string `json:"prompt_id,omitempty"` // in place of MessageID: that of the program, which its transcript has
	Folder    string `json:"folder"`              // ID of the folder
	State     string `json:"state"`               // ID of the state
	Time      string `json:"time"`
}

// Link adds a link.
func (s *Store) Link(l Link) error {
	if err := durable.MakeDir(s.root, Dir); err != nil {
		return err
	}
	record, err := line(l)
	if err != nil {
		return err
	}
	_, err = durable.Append(s.root, linksFile, record)
	return err
}

// Links returns the links, newest first. If lines are damaged, it returns the others, and the
// *[RecordError] of the first one.
func (s *Store) Links() ([]*Link, error) {
	list, err := s.linked.read(s.root, linksFile, (*Link).check)
	slices.Reverse(list)
	return list, err
}

func (l *Link) check() error {
	if (l.SessionID == "" || l.MessageID == "") && l.PromptID == "" || l.Folder == "" || l.State == "" {
		return errIncomplete
	}
	return nil
}
