package durable_test

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"golang.org/x/sys/unix"
)

// An aclEntry is an entry of an access control list in the kernel's format.
type aclEntry struct {
	Tag, Perm uint16
	ID        uint32
}

// accessList returns a list that lets the user 1234 read, and the group nothing.
// Its mask shows as the group bits of the file.
func accessList() []byte {
	const none = ^uint32(0)
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, uint32(2)) // the version
	binary.Write(&b, binary.LittleEndian, []aclEntry{{1, 6, none}, {2, 4, 1234}, {4, 0, none}, {0x10, 4, none}, {0x20, 0, none}})
	return b.Bytes()
}

func setAttr(t *testing.T, name, attr string, value []byte) {
	t.Helper()
	if err := unix.Setxattr(name, attr, value, 0); err != nil {
		t.Fatalf("this test needs a file system with extended attributes for its temporary folder: %s: %v", attr, err)
	}
}

func attrOf(t *testing.T, name, attr string) string {
	t.Helper()
	buf := make([]byte, 1<<16)
	n, err := unix.Getxattr(name, attr, buf)
	if err == unix.ENODATA {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

func ownerOf(t *testing.T, name string) (uid, gid int) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	return int(st.Uid), int(st.Gid)
}

// anotherOwner returns an owner to whom this process may give a file: for root
// another user.
func anotherOwner() (uid, gid int) {
	if os.Geteuid() == 0 {
		return 1234, 4321
	}
	if groups, err := os.Getgroups(); err == nil && len(groups) > 0 {
		return os.Geteuid(), groups[len(groups)-1]
	}
	return os.Geteuid(), os.Getegid()
}

const (
	acl        = "system.posix_acl_access"
	defaultACL = "system.posix_acl_default"
)

// TestReplaceKeepsAccess: a replaced file keeps its owner, group, permissions,
// access control list and attributes, whichever function replaces it.
func TestReplaceKeepsAccess(t *testing.T) {
	uid, gid := anotherOwner()
	for _, expect := range []bool{false, true} {
		root, dir := open(t)
		name := filepath.Join(dir, "a")
		put(t, name, "old", 0o640)
		if err := os.Chown(name, uid, gid); err != nil {
			t.Fatal(err)
		}
		setAttr(t, name, acl, accessList())
		long := bytes.Repeat([]byte("x"), 1500)
		setAttr(t, name, "user.note", long)
		info, err := root.Stat("a")
		if err != nil {
			t.Fatal(err)
		}
		b := durable.NewBatch(root)
		stage(t, b, "a", "new")
		if expect {
			b.Expect(durable.Identify(info))
		}
		if _, later, err := b.Commit(t.Context()); err != nil || later != nil {
			t.Fatal(err, later)
		}
		if u, g := ownerOf(t, name); u != uid || g != gid {
			t.Errorf("the file belongs to %d:%d, want %d:%d", u, g, uid, gid)
		}
		if attrOf(t, name, acl) != string(accessList()) || attrOf(t, name, "user.note") != string(long) {
			t.Errorf("the attributes are %q, %q", attrOf(t, name, acl), attrOf(t, name, "user.note"))
		}
		wantMode(t, name, 0o640)
		if content(t, name) != "new" {
			t.Error("the file is the old one")
		}
	}
}

// TestReplaceInheritsNothing: in a folder with a default access control list, a
// file without a list does not inherit it, and a new file does not become readable.
func TestReplaceInheritsNothing(t *testing.T) {
	root, dir := open(t)
	name := filepath.Join(dir, "a")
	put(t, name, "old", 0o640)
	setAttr(t, dir, defaultACL, accessList())
	if _, err := durable.Replace(root, "a", durable.Bytes(nil)); err != nil {
		t.Fatal(err)
	}
	if got := attrOf(t, name, acl); got != "" {
		t.Errorf("the file has the list %q", got)
	}
	wantMode(t, name, 0o640)
	if _, err := durable.Create(root, "b", durable.Bytes(nil)); err != nil {
		t.Fatal(err)
	}
	wantMode(t, filepath.Join(dir, "b"), durable.Mode)
}

// TestRootsFiles: files that root creates in another user's folder belong to that
// user, and so do copies of that user's files.
func TestRootsFiles(t *testing.T) {
	uid, gid := anotherOwner()
	root, dir := open(t)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "old"), "old", 0o640)
	if err := os.Chown(filepath.Join(dir, "old"), uid, gid); err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(durable.MakeDir(root, "sub/inner"))
	check(durable.Keep(root, "old", "sub/copy"))
	check(durable.KeepOriginal(root, "old", "sub/original"))
	check(durable.Cache(root, "cache", "cache/a"))
	d, err := durable.OpenCacheDir(root, "cache/sub")
	check(err)
	_, err = d.Write("b")
	check(err)
	check(d.Close())
	_, err = durable.Append(root, "log", []byte("line\n"))
	check(err)
	_, err = durable.Create(root, "sub/inner/new", durable.Bytes(nil))
	check(err)
	err = fs.WalkDir(root.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		check(err)
		if u, g := ownerOf(t, filepath.Join(dir, name)); u != uid || g != gid && os.Geteuid() == 0 {
			t.Errorf("%s belongs to %d:%d, want %d:%d", name, u, g, uid, gid)
		}
		return nil
	})
	check(err)
	wantMode(t, filepath.Join(dir, "sub", "copy"), 0o600)
}
