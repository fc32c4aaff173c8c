package hooklog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
)

func TestLog(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	begin := time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)
	if err := Add(root, begin, "no workspace"); err == nil {
		t.Error("a log was created outside of a workspace")
	}
	if list, err := Since(root, time.Time{}); len(list) != 0 || err != nil {
		t.Errorf("a missing log: %v, %v", list, err)
	}
	if err := durable.MakeDir(root, ".bough"); err != nil {
		t.Fatal(err)
	}
	const lines = 300
	for n := range lines {
		if err := Add(root, begin.Add(time.Duration(n)*time.Second), fmt.Sprintf("line %d\n\xff%s", n, strings.Repeat("x", n*20))); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, Path))
	if err != nil || info.Size() > maxSize+maxLine+100 {
		t.Errorf("the log is not bounded: %v, %v", info, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, Path), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "no time\n\ntorn")
	f.Close()
	list, err := Since(root, begin.Add((lines-2)*time.Second))
	if err != nil || len(list) != 2 || !strings.HasPrefix(list[1].Text, fmt.Sprintf("line %d \uFFFDxxx", lines-1)) || len(list[1].Text) > maxLine+10 {
		t.Errorf("the last lines are %v, %v", list, err)
	}
}
