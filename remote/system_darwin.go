package remote

import (
	"os/exec"
	"regexp"
)

// systemID returns the UUID of the Mac's hardware, "" if ioreg, a program of macOS, does not tell it.
func systemID() string {
	out, err := exec.Command("/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice").Output()
	if err != nil {
		return ""
	}
	found := regexp.MustCompile(`"IOPlatformUUID" = "([^"]+)"`).FindSubmatch(out)
	if found == nil {
		return ""
	}
	return string(found[1])
}
