// Package testmcp is an MCP server for tests: a program that a test starts by
// running itself again, or a handler for HTTP.
//
// Its tools:
//
//	echo    only reads: returns the member text
//	write   appends the member text and a line feed to the file path
//	slow    only reads: waits until it is cancelled, and then writes the file note, if given
//	wait    creates the file path, and waits until the file note exists
//	huge    only reads: returns this many bytes
//	fail    reports that it failed, with the member text
//	crash   writes the member text to standard error and exits with code 3
//	spawn   starts a program that sleeps, and returns its process id
//	env     only reads: returns the environment variable name
//	mixed   only reads: returns an image, a sound and resources
//	data    only reads: returns only structured content
//	grow    adds a tool, "grown"
package testmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Main is the program. It serves on its standard input and output. Its
// arguments change its behavior:
//
//	die TEXT    writes TEXT to standard error and exits with code 3
//	dieonce F   the same, if the file F does not exist, and creates F
//	hang        never answers
//	stubborn    ignores the end of its input, and requests to exit
//	noise       writes lines to standard output that are not messages
//	many N      has N more tools
//	sleep       only sleeps, for spawn
func Main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

func run(args []string) error {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	server := Server()
	switch arg(0) {
	case "die":
		return errors.New(arg(1))
	case "dieonce":
		f, err := os.OpenFile(arg(1), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			f.Close()
			return errors.New("the first time it dies")
		}
	case "hang":
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	case "sleep":
		time.Sleep(time.Hour) // until it is killed
		return nil
	case "noise":
		fmt.Println("Welcome!\n[info] the server starts")
	case "many":
		n, err := strconv.Atoi(arg(1))
		if err != nil {
			return err
		}
		for i := range n {
			add(server, fmt.Sprintf("tool%d", i), true, func(context.Context, arguments) *mcp.CallToolResult { return text("") })
		}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		server.Run(context.Background(), &mcp.StdioTransport{})
		time.Sleep(time.Hour) // until it is killed
	}
	err := server.Run(context.Background(), &mcp.StdioTransport{})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// Handler is the server over HTTP, for clients that send the header Authorization.
func Handler(authorization string) http.Handler {
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return Server() }, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != authorization {
			http.Error(w, "who sends "+strconv.Quote(got)+" may not come in", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// arguments are the arguments of all tools.
type arguments struct {
	Text  string `json:"text"`
	Path  string `json:"path"`
	Note  string `json:"note"`
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

// Server returns the server with its tools.
func Server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "testmcp", Version: "1"}, nil)
	add(s, "echo", true, func(_ context.Context, a arguments) *mcp.CallToolResult { return text(a.Text) })
	add(s, "write", false, func(_ context.Context, a arguments) *mcp.CallToolResult {
		f, err := os.OpenFile(a.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(f, a.Text)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return failed(err.Error())
		}
		return text("written")
	})
	add(s, "slow", true, func(ctx context.Context, a arguments) *mcp.CallToolResult {
		<-ctx.Done()
		if a.Note != "" {
			os.WriteFile(a.Note, []byte("cancelled"), 0o600)
		}
		return failed("cancelled")
	})
	add(s, "wait", false, func(ctx context.Context, a arguments) *mcp.CallToolResult {
		if err := os.WriteFile(a.Path, nil, 0o600); err != nil {
			return failed(err.Error())
		}
		for ctx.Err() == nil {
			if _, err := os.Stat(a.Note); err == nil {
				return text("waited")
			}
			time.Sleep(2 * time.Millisecond)
		}
		return failed("cancelled")
	})
	add(s, "huge", true, func(_ context.Context, a arguments) *mcp.CallToolResult { return text(strings.Repeat("x", a.Bytes)) })
	add(s, "fail", false, func(_ context.Context, a arguments) *mcp.CallToolResult { return failed(a.Text) })
	add(s, "crash", false, func(_ context.Context, a arguments) *mcp.CallToolResult {
		fmt.Fprintln(os.Stderr, a.Text)
		os.Exit(3)
		return nil
	})
	add(s, "spawn", false, func(context.Context, arguments) *mcp.CallToolResult {
		cmd := exec.Command(os.Args[0], "sleep")
		cmd.Stderr = os.Stderr // so that it has the output of this one, too
		if err := cmd.Start(); err != nil {
			return failed(err.Error())
		}
		return text(strconv.Itoa(cmd.Process.Pid))
	})
	add(s, "env", true, func(_ context.Context, a arguments) *mcp.CallToolResult { return text(os.Getenv(a.Name)) })
	add(s, "mixed", true, func(context.Context, arguments) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "first"},
			&mcp.ImageContent{Data: []byte{1, 2, 3}, MIMEType: "image/png"},
			&mcp.AudioContent{Data: []byte{1, 2}, MIMEType: "audio/wav"},
			&mcp.ResourceLink{URI: "file:///a.txt", Name: "a", MIMEType: "text/plain"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///b.txt", Text: "inside"}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///c", MIMEType: "application/zip", Blob: []byte{1, 2, 3, 4}}},
			&mcp.TextContent{Text: "last"},
		}}
	})
	add(s, "data", true, func(context.Context, arguments) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: json.RawMessage(`{"n":[1,2]}`)}
	})
	add(s, "grow", false, func(context.Context, arguments) *mcp.CallToolResult {
		add(s, "grown", true, func(context.Context, arguments) *mcp.CallToolResult { return text("new") })
		return text("grown")
	})
	return s
}

// add adds a tool whose arguments are not validated.
func add(s *mcp.Server, name string, reads bool, f func(context.Context, arguments) *mcp.CallToolResult) {
	tool := &mcp.Tool{
		Name:        name,
		Description: "The tool " + name + ".",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
	}
	if reads {
		tool.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true}
	}
	s.AddTool(tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var a arguments
		if err := json.Unmarshal(r.Params.Arguments, &a); err != nil {
			return nil, err
		}
		return f(ctx, a), nil
	})
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func failed(s string) *mcp.CallToolResult {
	r := text(s)
	r.IsError = true
	return r
}
