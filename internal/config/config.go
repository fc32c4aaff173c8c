// Package config reads and writes the settings of bough. They are members of
// two JSON objects: the file config.json of a workspace, and the user's own
// file at [UserPath]. A setting of the workspace overrides the user's, except
// that lists are concatenated.
//
// A setting is named by its path: "import.skip" is the member skip of the
// member import. [Settings] lists them all. Some can be set only in the user's
// file: a workspace from an unknown source must not choose a program to run or
// declare itself trusted.
//
// Writing changes one member and keeps every other byte, including unknown
// members.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Name is the name of the file in a workspace.
const Name = "config.json"

// UserPath returns the path of the user's file: config.json in the folder bough
// of the user's configuration folder, which $XDG_CONFIG_HOME overrides.
func UserPath() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "bough", Name), nil
	}
	if runtime.GOOS == "darwin" {
		home, err := os.UserHomeDir()
		return filepath.Join(home, ".config", "bough", Name), err
	}
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "bough", Name), err
}

// A File is a file of settings. The zero value has none.
type File struct {
	Path string
	// Scope says whether it is the workspace's file or the user's.
	Scope Scope
	data  []byte
}

// A Scope is the source of a setting.
type Scope string

const (
	Default   Scope = "default" // neither file has the setting
	User      Scope = "user"
	Workspace Scope = "workspace"
)

// Read reads a file, which may be absent. The error for a file that is not a JSON object is
// a *[SyntaxError].
func Read(path string, scope Scope) (File, error) {
	f := File{Path: path, Scope: scope}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return f, nil
	case err != nil:
		return f, err
	case !info.Mode().IsRegular():
		return f, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	if err := rawjson.Check(data); err != nil {
		return f, &SyntaxError{path, err}
	}
	if r := rawjson.Root(data); data[r.Start] != '{' {
		return f, &SyntaxError{path, errors.New("not a JSON object")}
	}
	f.data = data
	return f, nil
}

// A SyntaxError reports that a file is not a JSON object, or has an invalid
// setting.
type SyntaxError struct {
	Path string
	Err  error
}

func (e *SyntaxError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *SyntaxError) Unwrap() error { return e.Err }

// Value returns the JSON value at a path, nil if the file has none.
func (f File) Value(key string) []byte {
	r := gjson.GetBytes(f.data, key)
	if !r.Exists() || r.Type == gjson.Null {
		return nil
	}
	return []byte(r.Raw)
}

// Check returns the errors of the file: unknown members, invalid values, and
// settings that this file cannot set.
func (f File) Check() (problems []error) {
	var walk func(prefix string, object gjson.Result)
	walk = func(prefix string, object gjson.Result) {
		object.ForEach(func(k, v gjson.Result) bool {
			key := prefix + k.String()
			s, ok := Find(key)
			switch {
			case ok && s.UserOnly && f.Scope == Workspace:
				problems = append(problems, &SyntaxError{f.Path, fmt.Errorf("%s: only the user's file can set it; ignored", key)})
			case ok:
				if err := s.Check([]byte(v.Raw)); err != nil {
					problems = append(problems, &SyntaxError{f.Path, err})
				}
			case v.IsObject() && isGroup(key):
				walk(key+".", v)
			default:
				problems = append(problems, &SyntaxError{f.Path, fmt.Errorf("unknown setting %q", key)})
			}
			return true
		})
	}
	walk("", gjson.ParseBytes(f.data))
	return problems
}

// Set sets a setting in the file, and creates the file if it does not exist. If
// value is nil, Set removes the setting.
func (f *File) Set(key string, value []byte) error {
	data := f.data
	if len(data) == 0 {
		data = []byte("{}\n")
	}
	var err error
	if value == nil {
		data, err = sjson.DeleteBytes(data, key)
	} else {
		data, err = sjson.SetRawBytes(data, key, value)
	}
	if err != nil {
		return err
	}
	if len(f.data) == 0 { // indented for editing
		data = append(rawjson.Layout(data, 0), '\n')
	}
	path, err := filepath.EvalSymlinks(f.Path) // the target of a link is replaced, not the link
	if err != nil {
		path = f.Path
	}
	root, err := durable.MakeRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := durable.Replace(root, filepath.Base(path), durable.Bytes(data)); err != nil {
		return err
	}
	f.data = data
	return nil
}

// A Layered is the merged settings of a workspace and its user.
type Layered struct {
	Workspace, User File
}

// Value returns the JSON value of a setting and its source. A list has the
// values of both files. The value is nil if neither file has one and there is
// no default.
func (l Layered) Value(s Setting) (value []byte, from Scope) {
	var own []byte
	if !s.UserOnly {
		own = l.Workspace.Value(s.Key)
	}
	user := l.User.Value(s.Key)
	switch {
	case own != nil && user != nil && s.Kind == Texts:
		var all, more []string
		if json.Unmarshal(user, &all) == nil && json.Unmarshal(own, &more) == nil {
			return rawjson.Compact(append(all, more...)), Workspace
		}
		return own, Workspace
	case own != nil:
		return own, Workspace
	case user != nil:
		return user, User
	case s.Default != "":
		return []byte(s.Default), Default
	}
	return nil, Default
}

// Decode decodes the value of a setting into v as [json.Unmarshal] does, after
// checking it. If there is no value, v is not changed.
func (l Layered) Decode(key string, v any) error {
	s, ok := Find(key)
	if !ok {
		panic("config: no setting " + key)
	}
	value, from := l.Value(s)
	if value == nil {
		return nil
	}
	err := s.Check(value)
	if err == nil {
		err = json.Unmarshal(value, v)
	}
	if err != nil {
		path := l.User.Path
		if from == Workspace {
			path = l.Workspace.Path
		}
		return &SyntaxError{path, err}
	}
	return nil
}
