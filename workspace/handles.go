package workspace

// An Agent is a handle on an agent. It keeps no state: each method reads the
// current files.
type Agent struct {
	w    *Workspace
	name string
}

// Agent returns a handle on an agent. name is its name, its id, or a unique
// part of either. Agent does not check that it exists; the methods return an
// error if it does not.
func (w *Workspace) Agent(name string) Agent { return Agent{w, name} }

// A Line is a handle on a line, a session with its continuations, for programs
// that store messages in a format of their own. It keeps no state: each method
// reads the current files.
type Line struct {
	w    *Workspace
	name string
}

// Line returns a handle on the line of a session. name is the session's id,
// UUID or title, or a unique prefix of the id. Line does not check that it
// exists; the methods return an error if it does not.
func (w *Workspace) Line(name string) Line { return Line{w, name} }

// An Exploration is a handle on the file of an exploration. Package explore
// describes the content.
type Exploration struct {
	w  *Workspace
	id string
}

// Exploration returns a handle on an exploration. Its id may be new; methods
// that read return an error if the exploration does not exist.
func (w *Workspace) Exploration(id string) Exploration { return Exploration{w, id} }
