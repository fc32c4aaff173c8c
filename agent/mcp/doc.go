// Package mcp has models call the tools of MCP servers.
//
// Which servers there are stands in the JSON that other programs know, too:
//
//	{"mcpServers": {
//	  "files":  {"command": "mcp-files", "args": ["--root", "${HOME}/notes"], "env": {"LEVEL": "3"}},
//	  "search": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
//	}}
//
// A server is a program, which is started and talked to over its standard input and
// output, or is at a URL, over streamable HTTP, or with the type "sse" over HTTP with
// server-sent events, as older servers do. One with disabled true is left out. Other
// members are left to those who know them.
//
// In the command, the arguments, the values of env and headers, and the URL, ${NAME} or
// ${env:NAME} stands for an environment variable, and ${NAME:-TEXT} for TEXT if there is
// no such variable or it is empty. These values and those of env and headers are never
// part of an error, as long as they have at least six characters.
//
// The tool T of the server S is named S__T. Characters that not all providers allow in a
// name become "_". A name of more than 64 characters is cut, and one that two tools
// would have is not given to either; both kinds end with eight digits that are always the
// same for the same tool of the same server.
//
// What a tool answers becomes one text: texts as they are, one below the other, and a line
// in brackets for what is none. Structured content is shown as JSON if there is no text.
package mcp
