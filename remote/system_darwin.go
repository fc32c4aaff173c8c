package remote

import (
	"bytes"
	"os/exec"
)

// systemID returns the UUID of the Mac's hardware, "" if ioreg, a program of macOS, does not tell it.
func systemID() string {
	out, err := exec.Command("/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice").Output()
	if err != nil {
		return ""
	}
	_, rest, _ := bytes.Cut(out, []byte(`"IOPlatformUUID" = "`))
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(id)
}
