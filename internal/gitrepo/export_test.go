package gitrepo

import "github.com/bough-dev/bough/internal/gitconfig"

// Config returns the entries that apply in the repository.
func (r *Repository) Config() gitconfig.Config { return r.config }
