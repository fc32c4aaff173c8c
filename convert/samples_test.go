package convert

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/convert/transcript"
)

// TestSamples reads every file of testdata and of the folder $BOUGH_SAMPLES, writes its
// contents in every format, and reads the output: a writer accepts everything that was
// read, and its output is read without problems.
func TestSamples(t *testing.T) {
	files, conversations := 0, 0
	for _, dir := range []string{"testdata", os.Getenv("BOUGH_SAMPLES")} {
		if dir == "" {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			f := Detect(data[:min(len(data), HeadSize)])
			if f == nil {
				return nil
			}
			files++
			list, _, err := f.ReadAll(bytes.NewReader(data))
			if err != nil {
				t.Logf("%s: %v", path, err)
				return nil
			}
			for _, conversation := range list {
				conversations++
				tryWriters(t, path, conversation)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 20 || conversations < 20 {
		t.Fatalf("only %d files with %d conversations", files, conversations)
	}
	t.Logf("%d files, %d conversations", files, conversations)
}

// tryWriters writes the path to the leaf of a conversation, and all of it if possible, in
// every format.
func tryWriters(t *testing.T, path string, whole *transcript.Transcript) {
	t.Helper()
	byID := map[string]*transcript.Message{}
	for _, m := range whole.Messages {
		byID[m.ID] = m
	}
	var line []*transcript.Message
	for m := byID[whole.Leaf]; m != nil; m = byID[m.Parent] {
		line = append([]*transcript.Message{m}, line...)
	}
	for _, f := range Formats {
		if !f.Writes() {
			continue
		}
		for _, messages := range [][]*transcript.Message{line, whole.Messages} {
			if len(messages) == 0 || len(messages) > len(line) && !f.Branches {
				continue
			}
			one := *whole
			one.Messages = nil
			for _, m := range messages {
				m := *m
				m.Records = append(m.Records[:0:0], m.Records...)
				one.Messages = append(one.Messages, &m)
			}
			var b bytes.Buffer
			if _, err := f.Write(&b, &one, testOptions("01a1f7db-8659-7469-ac47-000000000009")); err != nil {
				t.Errorf("%s to %s: %v", path, f.Name, err)
				continue
			}
			if !f.Reads() || whole.Format == f.Name {
				continue // formats have laws of their own for their fields
			}
			again, problems, err := f.ReadAll(bytes.NewReader(b.Bytes()))
			switch {
			case err != nil || len(again) != 1:
				t.Errorf("%s to %s is read as %d conversations, %v", path, f.Name, len(again), err)
			case len(problems) > 0:
				t.Errorf("%s to %s is read with problems: %v", path, f.Name, problems)
			}
		}
	}
}
