// Package service describes a background program to the service manager of the user:
// systemd, launchd, or the Task Scheduler of Windows. It writes and runs nothing.
//
// kardianos/service was considered. It cannot show what it would install, and on
// Windows it knows only services of the machine, which need an administrator.
package service

import (
	"bytes"
	"encoding/xml"
	"path/filepath"
	"strings"
)

// A Program is what the service manager runs when the user logs in.
type Program struct {
	Name  string   // of the service: letters, digits, dots and dashes
	About string   // one line for people
	Path  string   // absolute
	Args  []string // without the program
	Dir   string   // the folder that it runs in, absolute
	Env   []string // NAME=VALUE, beyond what the service manager sets
	Log   string   // the file for output before the program opens its log; only launchd uses it
}

// A Plan is how a program is installed and removed.
type Plan struct {
	Manager string     // for people
	Path    string     // of the file to write
	Text    []byte     // of the file
	Install [][]string // commands to run when the file is written
	Remove  [][]string // commands to run before the file is removed
	Removed [][]string // commands to run after the file is removed
}

// gone is the exit code of bough for a missing workspace, after which a restart is
// useless, and held the one for a daemon that runs already.
const goneHeld = "3 6"

// Systemd returns the plan for a systemd user unit. config is the user's folder for
// settings.
func Systemd(p Program, config string) Plan {
	name := p.Name + ".service"
	var b strings.Builder
	b.WriteString("[Unit]\nDescription=" + systemdText(p.About) + "\n\n[Service]\n")
	words := []string{systemdWord(p.Path)}
	for _, arg := range p.Args {
		words = append(words, systemdWord(arg))
	}
	b.WriteString("ExecStart=" + strings.Join(words, " ") + "\n")
	b.WriteString("WorkingDirectory=" + systemdText(p.Dir) + "\n")
	for _, e := range p.Env {
		b.WriteString("Environment=" + systemdQuoted(e, false) + "\n")
	}
	b.WriteString("Restart=on-failure\nRestartSec=10\nRestartPreventExitStatus=" + goneHeld + "\nNice=10\n\n[Install]\nWantedBy=default.target\n")
	systemctl := func(args ...string) []string { return append([]string{"systemctl", "--user"}, args...) }
	return Plan{
		Manager: "systemd",
		Path:    filepath.Join(config, "systemd", "user", name),
		Text:    []byte(b.String()),
		Install: [][]string{systemctl("daemon-reload"), systemctl("enable", "--now", name)},
		Remove:  [][]string{systemctl("disable", "--now", name)},
		Removed: [][]string{systemctl("daemon-reload")},
	}
}

// systemdText escapes a value in which systemd expands specifiers.
func systemdText(s string) string {
	return strings.NewReplacer("%", "%%", "\n", " ", "\r", " ").Replace(s)
}

// systemdWord quotes a word of a command line.
func systemdWord(s string) string { return systemdQuoted(s, true) }

// systemdQuoted quotes a value. In a command line systemd also expands variables.
func systemdQuoted(s string, variables bool) string {
	if variables {
		s = strings.ReplaceAll(s, "$", "$$")
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`, "\r", `\r`).Replace(s) + `"`
}

// Launchd returns the plan for a launchd agent. home is the user's home folder, and uid the
// user's number.
func Launchd(p Program, home, uid string) Plan {
	label := "dev.bough." + p.Name
	var b bytes.Buffer
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + xmlText(label) + `</string>
	<key>ProgramArguments</key>
	<array>
`)
	for _, word := range append([]string{p.Path}, p.Args...) {
		b.WriteString("\t\t<string>" + xmlText(word) + "</string>\n")
	}
	b.WriteString("\t</array>\n\t<key>WorkingDirectory</key>\n\t<string>" + xmlText(p.Dir) + "</string>\n")
	if len(p.Env) > 0 {
		b.WriteString("\t<key>EnvironmentVariables</key>\n\t<dict>\n")
		for _, e := range p.Env {
			name, value, _ := strings.Cut(e, "=")
			b.WriteString("\t\t<key>" + xmlText(name) + "</key>\n\t\t<string>" + xmlText(value) + "</string>\n")
		}
		b.WriteString("\t</dict>\n")
	}
	b.WriteString(`	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>Crashed</key>
		<true/>
	</dict>
	<key>ProcessType</key>
	<string>Background</string>
	<key>StandardErrorPath</key>
	<string>` + xmlText(p.Log) + `</string>
</dict>
</plist>
`)
	path := filepath.Join(home, "Library", "LaunchAgents", label+".plist")
	return Plan{
		Manager: "launchd",
		Path:    path,
		Text:    b.Bytes(),
		Install: [][]string{{"launchctl", "bootstrap", "gui/" + uid, path}},
		Remove:  [][]string{{"launchctl", "bootout", "gui/" + uid + "/" + label}},
	}
}

// Task returns the plan for a task of the Windows Task Scheduler. data is the user's
// folder for data, and user the user's name with its domain.
func Task(p Program, data, user string) Plan {
	words := make([]string, len(p.Args))
	for i, arg := range p.Args {
		words[i] = windowsWord(arg)
	}
	text := `<?xml version="1.0" encoding="UTF-8"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>` + xmlText(p.About) + `</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>` + xmlText(user) + `</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>` + xmlText(user) + `</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Hidden>true</Hidden>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>` + xmlText(p.Path) + `</Command>
      <Arguments>` + xmlText(strings.Join(words, " ")) + `</Arguments>
      <WorkingDirectory>` + xmlText(p.Dir) + `</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`
	path := filepath.Join(data, p.Name+".xml")
	name := `bough\` + p.Name
	return Plan{
		Manager: "the Task Scheduler",
		Path:    path,
		Text:    []byte(text),
		Install: [][]string{{"schtasks", "/Create", "/TN", name, "/XML", path, "/F"}, {"schtasks", "/Run", "/TN", name}},
		Remove:  [][]string{{"schtasks", "/Delete", "/TN", name, "/F"}},
	}
}

func xmlText(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a strings.Builder returns no error
	return b.String()
}

// windowsWord quotes a word as programs of Windows parse their command line.
func windowsWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\"") {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for i := range len(s) {
		switch s[i] {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1)) // double those before the quote, and escape it
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(s[i])
	}
	b.WriteString(strings.Repeat(`\`, slashes) + `"`)
	return b.String()
}
