// Package mcp provides the tools of MCP servers to models.
//
// The servers are listed in JSON, in the format of other programs:
//
//	{"mcpServers": {
//	  "files":  {"command": "mcp-files", "args": ["--root", "${HOME}/notes"], "env": {"LEVEL": "3"}},
//	  "search": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
//	}}
//
// A server is either a program, which exchanges messages over its standard
// input and output, or at a URL, reached over streamable HTTP or, with the type
// "sse", over HTTP with server-sent events, as older servers need it. A server
// with disabled true is skipped. Unknown members are ignored.
//
// In the command, the arguments, the values of env and headers, and the URL,
// ${NAME} or ${env:NAME} is replaced by an environment variable. ${NAME:-TEXT}
// is replaced by TEXT if the variable is unset or empty. Errors never contain
// the values of these variables, of env or of headers, if they have at least
// six characters.
//
// The tool T of the server S has the name S__T. Characters that some providers
// do not allow are replaced by "_", and a name of more than 64 characters is
// cut. A name that was cut, or that two tools would have, gets a suffix of
// eight digits that depends only on the tool and its server.
//
// The result of a tool is converted to one text: its texts, separated by line
// breaks, and a line in brackets for any other content. Structured content is
// included as JSON if there is no text.
package mcp
