package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bough-dev/bough/cmd/bough/internal/setup"
	"github.com/bough-dev/bough/internal/integration"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// setupSite returns where programs are set up: with the program and the workspace to be named in
// settings. Unless the workspace will be created with the change of the settings, one that is
// named must exist.
func (p *program) setupSite(create bool) (setup.Site, error) {
	dir, err := p.workspaceDir()
	if err != nil {
		return setup.Site{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return setup.Site{}, err
	}
	if !create && !workspace.Is(dir) && (p.dir != "" || os.Getenv("BOUGH_WORKSPACE") != "") {
		return setup.Site{}, &fault.Error{Code: fault.NotFound, Message: "there is no workspace in " + dir, Hint: "'bough new' or 'bough import' creates one; -w names another folder"}
	}
	program, err := programPath()
	if err != nil {
		return setup.Site{}, err
	}
	home, _ := os.UserHomeDir()
	site := setup.Site{
		Machine: integration.Machine{Home: home, GOOS: runtime.GOOS, Env: os.Getenv},
		Call:    integration.Call{Program: program, Workspace: dir},
	}
	if state, err := stateDir(); err == nil {
		site.Records = filepath.Join(state, "installed")
	}
	return site, nil
}

// programsNamed returns the programs with the given names.
func programsNamed(all []integration.Program, names []string) ([]integration.Program, error) {
	var list []integration.Program
	for _, name := range names {
		i := slices.IndexFunc(all, func(t integration.Program) bool { return t.IsNamed(name) })
		if i < 0 {
			e := usageError("unknown tool %q%s", name, didYouMean(name, programNames(all)))
			e.Hint = "tools are " + strings.Join(programNames(all), ", ")
			return nil, e
		}
		if !slices.ContainsFunc(list, func(t integration.Program) bool { return t.Name == all[i].Name }) {
			list = append(list, all[i])
		}
	}
	return list, nil
}

func programNames(all []integration.Program) []string {
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	return names
}

// hookPrograms returns the programs that run hooks.
func hookPrograms() []integration.Program {
	var list []integration.Program
	for _, h := range integration.Hooks() {
		list = append(list, h.Program)
	}
	return list
}
