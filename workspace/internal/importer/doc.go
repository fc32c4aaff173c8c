// Package importer stores conversations that package convert reads from files of other
// programs.
//
// A conversation is spooled, in memory or in a temporary file, compared with what earlier
// imports and exports recorded (.bough/imports.jsonl and .bough/exports.jsonl, see
// docs/format.md 24), and becomes a new session, or new messages below those of a known
// one. Up to 64 conversations are committed together, each as an operation of its own, and
// all operations of an import are one group. No message is changed, except that a longer
// transcript completes an open one.
package importer
