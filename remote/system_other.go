//go:build !darwin && !windows

package remote

import (
	"os"
	"strings"
)

// systemID returns the machine-id of systemd or D-Bus, or the identifier that FreeBSD stores; "" if the
// system has none.
func systemID() string {
	for _, name := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id", "/etc/hostid"} {
		if data, err := os.ReadFile(name); err == nil && len(strings.TrimSpace(string(data))) > 0 {
			return strings.TrimSpace(string(data))
		}
	}
	return ""
}
