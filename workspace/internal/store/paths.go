package store

// ExportsPath is the file that records exports, so that an import recognizes them
// (format.md 24).
const ExportsPath = StateDir + "/exports.jsonl"

// HandoverDir holds conversations for programs that read a file once.
const HandoverDir = StateDir + "/handover"

// ImportsPath is the file that records imports and their sources (format.md
// 24).
const ImportsPath = StateDir + "/imports.jsonl"
