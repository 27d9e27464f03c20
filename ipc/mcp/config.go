package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Snippet is what makes a client start the server.
type Snippet struct {
	Where string // the file that it goes into
	Text  string
}

// format makes the snippet of a kind of clients.
type format func(command []string) string

// clients are the clients that are known, with the file and its format.
var clients = map[string]struct {
	where  string
	format format
}{
	"claude":         {".mcp.json in a project, or run: claude mcp add quern -- COMMAND", servers("mcpServers")},
	"claude-desktop": {"claude_desktop_config.json", servers("mcpServers")},
	"cursor":         {"~/.cursor/mcp.json", servers("mcpServers")},
	"windsurf":       {"~/.codeium/windsurf/mcp_config.json", servers("mcpServers")},
	"gemini":         {"~/.gemini/settings.json", servers("mcpServers")},
	"zed":            {"~/.config/zed/settings.json", servers("context_servers")},
	"vscode":         {".vscode/mcp.json", servers("servers")},
	"codex":          {"~/.codex/config.toml", codex},
	"opencode":       {"opencode.json", openCode},
}

// Clients are the names that Config knows, in order.
func Clients() []string {
	var out []string
	for name := range clients {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Config returns the snippet that makes the named client run the command; ok is
// false for a client that is not known.
func Config(client string, command []string) (s Snippet, ok bool) {
	c, ok := clients[client]
	if !ok {
		return Snippet{}, false
	}
	return Snippet{strings.Replace(c.where, "COMMAND", strings.Join(command, " "), 1), c.format(command)}, true
}

// servers is JSON in which the member named holds the servers by name.
func servers(member string) format {
	return func(command []string) string {
		server := map[string]any{"command": command[0], "args": command[1:]}
		return indented(map[string]any{member: map[string]any{"quern": server}})
	}
}

func openCode(command []string) string {
	server := map[string]any{"type": "local", "command": command, "enabled": true}
	return indented(map[string]any{"mcp": map[string]any{"quern": server}})
}

// codex is TOML, whose basic strings are JSON's but for what needs no escape here.
func codex(command []string) string {
	return fmt.Sprintf("[mcp_servers.quern]\ncommand = %s\nargs = %s\n", oneLine(command[0]), oneLine(command[1:]))
}

func indented(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // strings, lists and maps: it cannot fail
	return b.String()
}

func oneLine(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // likewise
	return strings.TrimSpace(b.String())
}
