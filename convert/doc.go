// Package convert is the table of the formats in which assistants keep their
// conversations: [Formats]. It detects the format of a file, reads its conversations with
// all branches, and writes a conversation for the program that it came from, or for
// another one. It opens no files but databases, of which it makes temporary copies.
// docs/formats.md lists what each format can represent.
//
// A [Format] is a row of the table. Package transcript defines what readers and writers
// exchange. A reader passes one message at a time to a sink, so a file of any size takes
// little memory.
//
// The reader and writer of a format are a package of its own below internal, which
// only the table calls: aider, aisdk, amp, anthropic, antigravity, atif, chatgpt, claude, claudeai,
// cline, codex, copilot, copilotchat, cursor, gemini, goose, librechat, llm, markdown, messages, oasst, openai,
// opencode, openwebui, otel, penguin, pi, qwen, sharegpt, sillytavern, zed. None imports another. The
// packages that they share, each for one subject, are below internal as well:
//
//	jsonl, jsondoc, member, times          files and records of JSON
//	export, nodes, nested, thread, tree    trees of messages, as different files store them
//	calls, parts, compaction               the content of messages
//	riders                                 records of a log that have none
//	request, provider                      providers of models
//	vscode                                 the folders of editors
//	tables                                 the databases of programs
//	sink, report                           what readers and writers are run with
//	state                                  what readers keep between the parts of a transcript
//
// CONTRIBUTING.md describes how to add a format. The tests of this package run over all
// rows, and over the sample files of each in testdata.
package convert
