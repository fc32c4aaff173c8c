package workspace

// An Agent is a handle on the agent of a name. It holds no files open; each method reads
// the workspace as it is then.
type Agent struct {
	w    *Workspace
	name string
}

// Agent returns a handle on an agent: its name, its id, or a unique part of either. That
// there is such an agent is checked by the methods.
func (w *Workspace) Agent(name string) Agent { return Agent{w, name} }

// A Line is a handle on a conversation: the line of its files, in the view of a program
// that stores messages of its own format. It holds no files open; each method reads the
// workspace as it is then.
type Line struct {
	w    *Workspace
	name string
}

// Line returns a handle on the line of a session: its id, UUID, title, or a unique prefix.
// That there is such a session is checked by the methods.
func (w *Workspace) Line(name string) Line { return Line{w, name} }

// An Exploration is a handle on the file of an exploration. Package explore describes
// the content.
type Exploration struct {
	w  *Workspace
	id string
}

// Exploration returns a handle on the exploration of an id. That there is such an
// exploration is checked by the methods.
func (w *Workspace) Exploration(id string) Exploration { return Exploration{w, id} }
