// Package mcp has models call the tools of MCP servers.
//
// The servers are listed in the JSON that other programs use, too:
//
//	{"mcpServers": {
//	  "files":  {"command": "mcp-files", "args": ["--root", "${HOME}/notes"], "env": {"LEVEL": "3"}},
//	  "search": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
//	}}
//
// A server is a program, with messages over its standard input and output, or a URL,
// over streamable HTTP, or with the type "sse" over HTTP with server-sent events, as
// older servers do. A server with disabled true is skipped. Unknown members are
// ignored.
//
// In the command, the arguments, the values of env and headers, and the URL, ${NAME} or
// ${env:NAME} is replaced by an environment variable, and ${NAME:-TEXT} by TEXT if the
// variable is unset or empty. Errors never contain these values nor those of env and
// headers, if they have at least six characters.
//
// The tool T of the server S is named S__T. Characters that some providers do not allow
// in a name become "_". A name of more than 64 characters is cut, and a name that two
// tools would have is given to neither; both kinds get a suffix of eight digits that
// depends only on the tool and its server.
//
// The result of a tool becomes one text: its texts, one below the other, and a line in
// brackets for any other content. Structured content is shown as JSON if there is no text.
package mcp
