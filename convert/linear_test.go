package convert

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// drawn returns a transcript as a test can compare it: a line for each message.
func drawn(t *Transcript) string {
	var b strings.Builder
	depth := map[string]int{}
	there := map[string]bool{}
	for _, m := range t.Messages {
		if there[m.Parent] {
			depth[m.ID] = depth[m.Parent]
		}
		there[m.ID] = true
	}
	names := map[string]string{"": "-"}
	for i, m := range t.Messages {
		names[m.ID] = fmt.Sprint(i)
		parent, ok := names[m.Parent]
		if !ok {
			parent = "?" + m.Parent
		}
		fmt.Fprintf(&b, "%d<%s", i, parent)
		if m.ID == t.Leaf {
			b.WriteString("*")
		}
		fmt.Fprintf(&b, " %s", m.Role)
		if m.Kind != Said {
			fmt.Fprintf(&b, " %s", m.Kind)
		}
		for j := range m.Parts {
			p := &m.Parts[j]
			c := p.Call()
			fmt.Fprintf(&b, " %s:%s%s%s%q", p.Type, c.ID, c.Name, c.Arguments, p.Text)
		}
		fmt.Fprintf(&b, " [%d]\n", len(m.Records))
	}
	return b.String()
}

func TestX(t *testing.T) {
	for _, f := range []*Format{&opencode} {
		files, _ := filepath.Glob(os.Getenv("BOUGH_SAMPLES") + "/" + f.Name + "/*")
		for _, name := range files {
			data, _ := os.ReadFile(name)
			list, problems, err := f.ReadAll(bytes.NewReader(data))
			t.Log(name, problems, err, Detect(data[:min(len(data), HeadSize)]) == f)
			for _, tr := range list {
				c := tr.Conversation
				c.Records = nil
				t.Logf("%+v %d\n%s", c, len(tr.Records), drawn(tr))
				var b bytes.Buffer
				lost, err := f.Write(&b, tr, Options{ID: "019b7000-0000-7000-8000-00000000ffff", Now: time.Unix(1795219200, 0), Random: strings.NewReader(strings.Repeat("abcdefgh", 1000))})
				t.Log(lost, err)
				os.WriteFile("/tmp/linear-out-"+filepath.Base(name), b.Bytes(), 0o600)
				l2, p2, err := f.ReadAll(&b)
				t.Log(p2, err, drawn(l2[0]) == drawn(tr))
				for i := range tr.Messages {
					if l2[0].Messages[i].ID != tr.Messages[i].ID {
						t.Log("id", i)
					}
				}
			}
		}
	}
}
