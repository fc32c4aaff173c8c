// Package mcp serves a workspace to assistants over the Model Context Protocol.
//
// A [Server] has the tools, resources and prompts of one workspace. Serve
// serves one client over a pair of streams, one JSON-RPC message per line, as
// 'bough mcp' does; the Server is also an [http.Handler] for clients over
// streamable HTTP.
//
// A tool is one call of package workspace, mostly a verb of the command, with
// its JSON as the structured result. An answer has a bounded size: a longer
// list or conversation is returned in pages, and a long text is cut with a note
// of how to read the rest.
//
// A model that uses these tools cannot name a path of the machine, start a
// program, or change the settings. Tools that remove or add many
// messages ask the user first, by elicitation. If the client cannot ask, they
// refuse, with the command that a person can type in a shell.
package mcp
