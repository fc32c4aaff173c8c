package folders

import (
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/project"
)

// mapped returns the folder here to which the user mapped the project of a folder of another machine,
// without symbolic links. It returns "" if there is none.
func (r *reading) mapped(id string) string {
	path, known := r.mappings[id]
	if !known {
		path = r.look(r.projects[id])
		r.mappings[id] = path
	}
	return path
}

// look returns the folder of a project that the user set. A symbolic link below that leads elsewhere, so
// it is not followed: the path below comes from another machine.
func (r *reading) look(p project.Project) string {
	set := r.view.Projects()[p.ID]
	if set == "" {
		return ""
	}
	top, _, err := states.IdentityOf(set)
	if err != nil {
		return ""
	}
	path := p.In(top)
	if real, _, err := states.IdentityOf(path); err != nil || real != path {
		return ""
	}
	return path
}

// standsFor reports whether states of a folder of another machine count as those of f.
func (r *reading) standsFor(f *Folder, id string) bool {
	return r.machines[id] != "" && (f.abroad || f.Path == r.mapped(id))
}

// mappedBy returns the name of the folder of a state if f stands for that because it is mapped, else "".
func (r *reading) mappedBy(st *states.State, f *Folder) string {
	if f == nil || f.abroad || f.ID == st.Folder || !r.standsFor(f, st.Folder) {
		return ""
	}
	return r.nameOf(st.Folder)
}

// hereOf returns the path of the folder of a state on this machine: of a folder of another machine, that
// to which its project is mapped.
func (r *reading) hereOf(st *states.State) (string, error) {
	if r.machines[st.Folder] == "" {
		return r.paths[st.Folder], nil
	}
	path := r.mapped(st.Folder)
	if path == "" {
		return "", r.notNamed(st)
	}
	return path, nil
}

// projectOf returns what a folder is about, nil if that is not known.
func (r *reading) projectOf(id string) *project.Project {
	p, known := r.projects[id]
	if r.machines[id] == "" && !r.temporary[id] {
		p, known = r.view.ProjectAt(r.paths[id])
	}
	if !known {
		return nil
	}
	return &p
}
