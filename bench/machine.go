package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// describe says where and with what the tables were measured, in Markdown.
func (r *runner) describe(ctx context.Context, args []string) string {
	says := func(name string, args ...string) string {
		out, err := exec.CommandContext(ctx, name, args...).Output()
		if err != nil {
			return "unknown"
		}
		return strings.TrimSpace(string(out))
	}
	versions := []string{runtime.Version(), says("git", "--version")}
	if db, err := connect(ctx, r.dir); err == nil {
		var version string
		if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err == nil {
			versions = append(versions, "SQLite "+version)
		}
		db.Close()
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "modernc.org/sqlite" || m.Path == "go.etcd.io/bbolt" {
				versions = append(versions, m.Path+" "+m.Version)
			}
		}
	}
	lines := []string{
		"* Machine: " + cpu() + fmt.Sprintf(", %d cores, ", runtime.NumCPU()) + says("uname", "-srm") + ", " +
			says("findmnt", "-n", "-o", "FSTYPE", "-T", r.dir),
		"* Versions: " + strings.Join(versions, ", "),
		"* Command: `" + strings.TrimSpace("go run . "+strings.Join(args, " ")) + "`, " + time.Now().Format("2006-01-02"),
	}
	return strings.Join(lines, "\n") + "\n"
}

// cpu names the processor as far as the system does.
func cpu() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
