package main

import (
	"runtime/debug"
	"testing"
	"time"
)

// TestBuildOf: what a program was built from is that of its build information.
func TestBuildOf(t *testing.T) {
	b := buildOf(&debug.BuildInfo{
		Deps: []*debug.Module{{Path: "a.org/x", Version: "v1.2.3", Sum: "h1:x="}, {Path: "a.org/y", Version: "v1.0.0", Replace: &debug.Module{Path: "../y"}}},
		Settings: []debug.BuildSetting{
			{Key: "-tags", Value: "a,b"}, {Key: "CGO_ENABLED", Value: "1"}, {Key: "vcs.revision", Value: "0123"},
			{Key: "vcs.time", Value: "2026-11-28T17:00:00Z"}, {Key: "vcs.modified", Value: "true"},
		},
	})
	if b.Commit != "0123" || !b.Time.Equal(time.Date(2026, 11, 28, 17, 0, 0, 0, time.UTC)) || !b.Modified || b.Tags != "a,b" || !b.Cgo {
		t.Errorf("found %+v", b)
	}
	if len(b.Modules) != 2 || b.Modules[0] != (module{"a.org/x", "v1.2.3", "h1:x="}) || b.Modules[1] != (module{"../y", "", ""}) {
		t.Errorf("found the modules %+v", b.Modules)
	}
	if b := buildOf(nil); b.Version != version || b.Commit != "" || b.Time != nil {
		t.Errorf("without information found %+v", b)
	}
}
