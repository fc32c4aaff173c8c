package store

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/project"
	"github.com/bough-dev/bough/workspace/provenance"
)

// ProjectsPath has the folders that the user named for projects, absolute paths on this machine by the
// ids of the projects.
const ProjectsPath = StateDir + "/projects.json"

// ReadProjects returns the content of [ProjectsPath].
func ReadProjects(root *os.Root) (set map[string]string, err error) {
	data, err := ReadRegular(root, ProjectsPath)
	if err == nil && data != nil && json.Unmarshal(data, &set) != nil || set == nil {
		set = map[string]string{}
	}
	return set, err
}

// WriteProjects replaces the content of [ProjectsPath]. The caller must hold the lock.
func WriteProjects(root *os.Root, set map[string]string) error {
	_, err := durable.Replace(root, ProjectsPath, durable.Bytes(rawjson.Value(set, 0), []byte("\n")))
	return err
}

// places are what a view knows of the folders of projects.
type places struct {
	set     map[string]string           // content of [ProjectsPath], nil before it was read
	found   map[string]string           // folders of repositories of conversations that were made here, by id
	at      map[string]*project.Project // projects of folders, nil for those without one
	folders map[project.Project]string  // "" if the project has none here
}

// Projects returns the folders that the user named, by the ids of their projects.
func (v *View) Projects() map[string]string {
	if v.places.set == nil {
		set, err := ReadProjects(v.Root)
		v.Warn("the folders of projects cannot be read", err)
		v.places.set = set
	}
	return v.places.set
}

// ProjectAt returns the project of a folder: by its repository of git, else by the nearest folder above
// that the user named. ok is false if it has none.
func (v *View) ProjectAt(folder string) (p project.Project, ok bool) {
	if !filepath.IsAbs(folder) {
		return p, false
	}
	at, known := v.places.at[folder]
	if !known {
		if p, _, ok := project.Of(folder, os.Getenv); ok {
			at = &p
		} else if p, ok := v.named(folder); ok {
			at = &p
		}
		if v.places.at == nil {
			v.places.at = map[string]*project.Project{}
		}
		v.places.at[folder] = at
	}
	if at == nil {
		return p, false
	}
	return *at, true
}

// named returns the project of the nearest folder above a folder that the user named.
func (v *View) named(folder string) (p project.Project, ok bool) {
	nearest := ""
	for _, id := range slices.Sorted(maps.Keys(v.Projects())) {
		top := v.Projects()[id]
		below, err := filepath.Rel(top, folder)
		if err != nil || !filepath.IsLocal(below) || len(top) <= len(nearest) {
			continue
		}
		nearest, p = top, project.Project{ID: id}
		if below != "." {
			p.Path = filepath.ToSlash(below)
		}
	}
	return p, nearest != "" && p.Valid()
}

// FoundProjects returns the folders of the repositories of git of the conversations that were made here,
// by the ids of their projects.
func (v *View) FoundProjects() map[string]string {
	if v.places.found != nil {
		return v.places.found
	}
	v.places.found = map[string]string{}
	done := map[string]bool{}
	for _, e := range v.Index.Entries() {
		dir := e.Setting.Directory
		if _, foreign := v.From(e.ID); foreign || dir == "" || done[dir] {
			continue
		}
		done[dir] = true
		if p, top, ok := project.Of(dir, os.Getenv); ok && v.places.found[p.ID] == "" {
			v.places.found[p.ID] = top
		}
	}
	return v.places.found
}

// From returns where a session comes from, or that of which it is a snapshot. ok is false if that was
// made here.
func (v *View) From(id string) (o provenance.Origin, ok bool) {
	for seen := map[string]bool{}; !seen[id] && v.Origins().Len() > 0; {
		seen[id] = true
		id = v.FirstFile(id)
		if o, ok := v.Origins().Session(id); ok {
			return o, true
		}
		if e := v.Index.Entry(id); e == nil || !e.Snapshot {
			break
		}
		id = v.Index.Origin(id)
	}
	return o, false
}

// ProjectOf returns the project of a session, nil if it is not known: that which came with it, else that
// of its folder.
func (v *View) ProjectOf(id string) *project.Project {
	if o, ok := v.From(id); ok {
		return o.Project
	}
	if e := v.Index.Entry(id); e != nil {
		if p, ok := v.ProjectAt(e.Setting.Directory); ok {
			return &p
		}
	}
	return nil
}

// FolderOf returns the folder of a project on this machine, "" if it is not known: below the folder that
// the user named, else below that of conversations that were made here.
func (v *View) FolderOf(p project.Project) string {
	if folder, known := v.places.folders[p]; known {
		return folder
	}
	folder := ""
	for _, known := range []func() map[string]string{v.Projects, v.FoundProjects} {
		if top := known()[p.ID]; folder == "" && top != "" && isFolder(p.In(top)) {
			folder = p.In(top)
		}
	}
	if v.places.folders == nil {
		v.places.folders = map[project.Project]string{}
	}
	v.places.folders[p] = folder
	return folder
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// here returns a setting of a session with its folder on this machine, if the session comes from
// another one and that is known.
func (v *View) here(id string, s session.Setting) session.Setting {
	if o, ok := v.From(id); ok && o.Project != nil {
		if folder := v.FolderOf(*o.Project); folder != "" {
			s.Directory = folder
		}
	}
	return s
}
