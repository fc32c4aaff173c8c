package owner

import (
	"os"

	"golang.org/x/sys/windows"
)

func other(path string) (bool, error) {
	if _, err := os.Lstat(path); err != nil {
		return false, err
	}
	security, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return false, err
	}
	owner, _, err := security.Owner()
	if err != nil {
		return false, err
	}
	token := windows.GetCurrentProcessToken()
	user, err := token.GetTokenUser()
	if err != nil {
		return false, err
	}
	if owner.Equals(user.User.Sid) {
		return false, nil
	}
	// What an administrator makes belongs to the group of administrators.
	member, err := token.IsMember(owner)
	return !(member && owner.IsWellKnown(windows.WinBuiltinAdministratorsSid)), err
}
