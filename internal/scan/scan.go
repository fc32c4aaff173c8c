// Package scan reads what a folder holds now, and makes the objects of a state of it: its
// trees (package filetree), and the contents of its files.
//
// A scan has two steps. [Look] lists the folder, concurrently, and finds the files that must
// be read. [Scan.Store] reads them and passes objects to a writer, each after those that it
// names, so that an interrupted write leaves no tree without its files. A folder is never
// changed.
//
// # What a state holds
//
// Files, symbolic links as links, and directories, empty ones too. No link is followed. What
// [Rules] ignore is no part of a state. Everything else that a state does not hold is in the
// list [Result.Left], with a reason:
//
//	large         a file over the limit of [Options.File]
//	folder_large  a directory over the limits of [Options.FolderFiles] or FolderBytes; its
//	              subdirectories that are over a limit themselves do not count, so it is the
//	              innermost one
//	secret        the rules have it as a secret, or Options.Refused its content
//	ignored_tracked  the rules ignore it although git tracks it
//	unreadable    the system refuses to list or to open it, or directories are nested too deeply
//	locked        another program has it open and locked
//	special       a device, a named pipe, a socket, or another special file
//	unsettled     it changed while it was read, three times
//
// A problem with a path omits that path and nothing else. A file that is being written
// is read as it is at one moment, as far as its times show that: they are compared before
// and after, and the file is read again if they differ.
//
// # The cache
//
// A [Cache] has the metadata of each file that the last scan read, with its ID. A file is not
// read again if size, times, inode, type and permission bits are as they were, and if both
// times were more than two seconds before the begin of that scan. A younger file might
// change again within the resolution of its times. A Cache is valid as long as the caller
// still has all objects of that scan.
//
// # Memory
//
// A scan keeps about 240 bytes for each file that differs from the cache, and a buffer of
// 1 MiB for each processor; of a large file it never has more than that. A folder with more
// than [Options.Files] files is refused. Of a directory that is too large only the numbers are
// kept.
package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/pack"
)

// Options are the rules and limits of a scan. The zero value of a limit means the default.
type Options struct {
	Rules       Rules                 // nil means that everything belongs to a state
	Refused     func(id pack.ID) bool // if not nil: content that is not stored
	File        int64                 // maximum size of a file in bytes, 16 MiB by default
	FolderFiles int                   // maximum number of files in an untracked directory, 20,000 by default
	FolderBytes int64                 // maximum size of these files, 1 GiB by default
	Files       int                   // maximum number of files of a folder, 2 million by default
	Now         func() time.Time

	// Changed, if not nil, are the directories, by their paths, in which something may have
	// changed since the scan of the cache; "" is the folder itself. The other ones, which are
	// not read, are as they were. Before is what that scan omitted.
	Changed []string
	Before  []Left

	// Progress is called while files are read, with their size so far and in total, and not
	// concurrently. If nil, it is not called.
	Progress func(done, total int64)
}

// WithDefaults returns the options with the limits that hold.
func (o Options) WithDefaults() Options {
	o.File = cmp.Or(o.File, 16<<20)
	o.FolderFiles = cmp.Or(o.FolderFiles, 20_000)
	o.FolderBytes = cmp.Or(o.FolderBytes, 1<<30)
	o.Files = cmp.Or(o.Files, 2_000_000)
	if o.Rules == nil {
		o.Rules = everything{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Rules decide what belongs to a state, for the names of one directory. They are used
// concurrently.
type Rules interface {
	// Enter returns the rules of a subdirectory. present has those of its files whose names
	// are in Sources. If the result is nil, the subdirectory is ignored.
	Enter(name string, present []Source) Rules
	// Sources returns the names of files that Enter needs.
	Sources() []string
	// Judge decides about a name in the directory.
	Judge(name string, isDir bool) Verdict
	// Tracked reports whether git tracks a file in the directory or below it. Such a
	// directory is never too large.
	Tracked() bool
	// Hollow reports whether the directory belongs to a state only if a file in it or below
	// it does.
	Hollow() bool
}

// A Source is a file that rules are made of.
type Source struct {
	Name  string
	IsDir bool
	Data  []byte // of a regular file, at most 100 MiB
}

// A Verdict is what [Rules] decide about a name.
type Verdict int

const (
	Hold Verdict = iota
	Ignore
	IgnoreTracked
	Secret
)

// everything are rules that ignore nothing.
type everything struct{}

func (everything) Enter(string, []Source) Rules { return everything{} }
func (everything) Sources() []string            { return nil }
func (everything) Judge(string, bool) Verdict   { return Hold }
func (everything) Tracked() bool                { return false }
func (everything) Hollow() bool                 { return false }

// A Reason says why a state does not hold a path.
type Reason string

const (
	Large          Reason = "large"
	FolderLarge    Reason = "folder_large"
	IsSecret       Reason = "secret"
	IgnoredTracked Reason = "ignored_tracked"
	Unreadable     Reason = "unreadable"
	Locked         Reason = "locked"
	Special        Reason = "special"
	Unsettled      Reason = "unsettled"
)

// A Result describes a state.
type Result struct {
	Tree  pack.ID
	Files int    // number of files and links
	Bytes int64  // their size
	Read  int    // number of files that were read, because the cache did not have them
	Added int    // number of new objects
	Left  []Left // sorted by path; nothing in it is below another one
	Cache []byte // for the next scan, see [ParseCache]; nil if the last one is still right
}

// A CountError reports that a folder has more files than [Options.Files].
type CountError struct{ Limit int }

func (e *CountError) Error() string {
	return fmt.Sprintf("the folder has more than %d files", e.Limit)
}

// A Scan is a folder that was listed.
type Scan struct {
	opts  Options
	start time.Time
	dir   string
	cache *Cache
	root  *dir
	left  []Left
	kept  map[string]bool // directories that were not read, as Options.Changed allows
	todo  []reading       // what must be read
}

// Look lists the folder dir. The cache may be nil.
func Look(ctx context.Context, dir string, cache *Cache, opts Options) (*Scan, error) {
	s := &Scan{opts: opts.WithDefaults(), dir: dir, cache: cache}
	s.start = s.opts.Now()
	if err := s.walk(ctx); err != nil {
		return nil, err
	}
	s.root.collect(s)
	s.keepLeft()
	return s, nil
}

// Same reports whether the folder is as the cache has it. Then [Scan.Store] adds nothing.
func (s *Scan) Same() bool { return s.root.same }

// sortedLeft returns the omitted paths, without those below another one.
func sortedLeft(list []Left) []Left {
	slices.SortFunc(list, func(a, b Left) int {
		return cmp.Or(slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/")), cmp.Compare(a.Why, b.Why))
	})
	kept := list[:0]
	for _, l := range list {
		if n := len(kept); n > 0 && (l.Path == kept[n-1].Path || strings.HasPrefix(l.Path, kept[n-1].Path+"/")) {
			continue
		}
		kept = append(kept, l)
	}
	return kept
}
