// Package importer stores conversations that package convert reads from files of other
// programs.
//
// A conversation is spooled, in memory or in a temporary file, and compared with the
// records of earlier imports and exports (.bough/imports.jsonl and .bough/exports.jsonl,
// see docs/format.md 24). It becomes a new session, or new messages of a known one. Up to
// 64 conversations are committed together, each as an operation of its own, and all
// operations of an import form one group. No stored message changes, except that a longer
// transcript completes an open one.
package importer
