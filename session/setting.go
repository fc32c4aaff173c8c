package session

import "github.com/tidwall/gjson"

// A Setting describes where a conversation took place; unknown fields are "".
type Setting struct {
	Tool      string `json:"tool"`       // the format of the imported transcript
	Directory string `json:"directory"`  // the working directory
	GitBranch string `json:"git_branch"` // the git branch of the directory at the start
	Model     string `json:"model"`
}

// Setting returns the setting of the session: that of the first transcript from
// which it was imported, else that of Penguin's metadata.
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
