package page

import (
	"net/url"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/workspace/restores"
)

// adoption is the value of [restorePage.What] for what a branch of an exploration changed.
const adoption = "adopt"

// showAdoption shows what adopting a result of an exploration with the files of its branch would
// change, and the form that does it.
func showAdoption(c *request) (view, error) {
	q := c.r.URL.Query()
	branch := q.Get("branch_id")
	p := &restorePage{What: adoption, Way: q.Get("way"), Only: onlyIn(q), Form: c.r.URL.Path, Action: "/do/explore/adopt/files"}
	if branch != "" {
		p.Hidden = []field{{"branch_id", branch}}
	}
	x := &explore.Explorer{Workspace: c.workspace.Confined()}
	e, plan, err := x.AdoptFiles(c.r.Context(), c.r.PathValue("id"), branch, p.options())
	if err != nil {
		return view{}, err
	}
	shown, err := c.workspace.Confined().Folder("").Show(c.r.Context(), plan.To, ".")
	if err != nil {
		return view{}, err
	}
	p.Target, p.Dir = c.folderState(&shown.State), plan.Dir
	p.Crumbs = []crumb{{Title: "Explorations", Href: "/explore"}, {Title: questionOf(e), Href: explorationAddress(e.ID)}}
	p.Target.Words = c.wordsAt(&shown.State)
	p.Posted = append(p.Posted, field{"id", e.ID})
	p.Compare, p.CompareText = differenceAddress(e.State, p.Target.ID), "What the branch changed"
	p.Title, p.Back = "Adopt the files of a branch", c.r.URL.RequestURI()
	p.of(plan)
	c.session = e.Session
	return view{Template: "restore", Title: p.Title, Data: p}, nil
}

// adoptionAddress returns the address of the plan to adopt a result with the files of its branch;
// without a branch it is the outcome.
func adoptionAddress(id, branch string) string {
	address := explorationAddress(id) + "/adopt"
	if branch != "" {
		address += "?" + url.Values{"branch_id": {branch}}.Encode()
	}
	return address
}

// hasFiles reports whether the files of a branch can be adopted with its result.
func hasFiles(e *explore.Exploration, b *explore.Branch) bool {
	return b != nil && e.State != "" && b.State != ""
}

// keptOf returns the paths that stayed as they were although files were brought back, which the
// page shows after the form was sent.
func keptOf(list []restores.Kept) (paths []plannedPath) {
	for _, k := range list {
		why := sentence.Kept(k.Why)
		if k.As != "" {
			why += "; what another program wrote is in " + k.As
		}
		paths = append(paths, plannedPath{Path: k.Path, Why: why})
	}
	return paths
}
