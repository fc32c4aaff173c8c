package main

// omittedVerbs are the verbs of the command that package api does not have, with the
// reason. One with verbs below it represents all of them that package api does not have.
func omittedVerbs() map[string]string {
	const (
		terminal = "it is for a person at a terminal"
		opens    = "it takes a path of the machine"
		setUp    = "it sets up the machine"
		credits  = "it takes paths, keys or credentials of the machine, or cannot be undone"
	)
	return map[string]string{
		"choose":     terminal,
		"completion": terminal,
		"demo":       terminal,
		"files":      "it takes a path of the machine; files/ls, files/diff and files/show take those of states",
		"help":       terminal,
		"inspect":    opens,
		"man":        terminal,
		"remote":     credits,
		"resume":     "it writes into the folder of another program",
		"watch":      "HTTP has /v1/events, and MCP has subscriptions",
		"serve":      setUp,
		"open":       terminal,
		"ui":         terminal,
		"mcp":        setUp,
		"daemon":     setUp,
		"hook":       setUp,
		"setup":      setUp,
		"version":    "it is about the program, not about a workspace",
	}
}

// omittedFlags are the flags of the command's verbs that no argument of the table stands
// for, by verb and flag, with the reason.
func omittedFlags() map[string]map[string]string {
	const (
		text     = "it changes the text for people only"
		draws    = "it draws for people; the page of the server has the picture"
		opens    = "it takes a path of the machine"
		tools    = "it is for turns with tools, which are programs"
		agent    = "it is the agent's; agent/chat takes another"
		events   = "the stream of events has them"
		waits    = "the client ends the request when it has waited long enough"
		runs     = "it runs programs"
		keeps    = "the settings of the workspace say it"
		person   = "a person changes settings for all workspaces"
		machines = "it is what all machines of a remote did"
	)
	// turns adds the flags of turns that no verb has an argument for.
	turns := func(flags map[string]string) map[string]string {
		for _, name := range []string{"tools", "allow", "allow-command", "max-turns", "max-calls", "steer-policy", "no-checkpoint"} {
			flags[name] = tools
		}
		flags["timeout"], flags["files"] = waits, opens
		return flags
	}
	conflicts := func() map[string]string {
		const named = "conflicts names it"
		return map[string]string{"keep": named, "take": named, "merge": named}
	}
	merges := func(flags map[string]string) map[string]string {
		flags["allow-command"] = runs
		return flags
	}
	return map[string]map[string]string{
		"bisect":           {"run": runs, "timeout": runs},
		"restore":          conflicts(),
		"rewind":           conflicts(),
		"undo":             conflicts(),
		"merge":            merges(conflicts()),
		"compare":          {"html": draws, "force": opens, "allow-command": runs},
		"agent/create":     {"memory": opens},
		"agent/set":        {"memory": opens},
		"redo":             conflicts(),
		"files/turn":       conflicts(),
		"prune-context":    {"allow-command": runs},
		"edit":             turns(map[string]string{"stream": events}),
		"replay":           turns(map[string]string{"stream": events}),
		"show":             {"no-tools": text, "no-thinking": text, "oneline": text, "full": text},
		"search":           {"list": "per_session limits the matches of a conversation"},
		"log":              {"all": text, "remote": machines},
		"config":           {"user": person},
		"export":           {"output": opens, "force": opens, "open": opens},
		"append":           {"files": opens},
		"checkpoint":       {"files": opens, "dir": opens},
		"branch":           {"files": opens, "dir": opens},
		"tree":             {"svg": draws, "output": opens, "force": opens},
		"prune":            {"keep-all": keeps, "every": keeps, "max-age": keeps, "limit": keeps},
		"agent/chat":       turns(map[string]string{"stream": events, "explore": "it is for a person, who chooses"}),
		"agent/branch":     turns(map[string]string{"stream": events}),
		"steer":            turns(map[string]string{"model": agent, "fallback": agent}),
		"follow-up":        turns(map[string]string{"model": agent, "fallback": agent}),
		"queue":            turns(map[string]string{}),
		"explore/adopt":    conflicts(),
		"explore":          {"run": runs, "dir": runs, "bind": runs, "share": runs, "keep": runs, "allow-command": runs},
		"explore/evaluate": {"allow-command": runs},
		"explore/resume":   {"allow-command": runs},
	}
}
