package session

import "github.com/tidwall/gjson"

// A Setting is where a conversation took place; "" is what nobody says.
type Setting struct {
	Tool      string `json:"tool"`       // the format of the transcript that it was imported from
	Directory string `json:"directory"`  // the folder that it is about
	GitBranch string `json:"git_branch"` // the branch of that when it began
	Model     string `json:"model"`
}

// Setting returns where the session says that it took place: what the first transcript
// says that it was imported from, else what Penguin does.
func (o *Outline) Setting() Setting {
	source := gjson.GetBytes(o.metadata, "bough.sources.0")
	s := Setting{
		Tool:      text(source.Get("format")),
		Directory: text(source.Get("directory")),
		GitBranch: text(source.Get("git_branch")),
		Model:     text(source.Get("model")),
	}
	if s.Directory == "" {
		s.Directory = text(gjson.GetBytes(o.metadata, "directory"))
	}
	if s.Model == "" {
		s.Model = text(gjson.GetBytes(o.metadata, "modelID"))
	}
	return s
}
