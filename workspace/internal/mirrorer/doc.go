// Package mirrorer lists what other workspaces need to know of a workspace, and receives what
// they know. The values are those of package mirror.
//
// Taking in changes never rewrites a message, except for its place: a message keeps the bytes that
// it has where it was written, and gets a parent_id if its position in the file implies another
// parent. Changes are validated before the first one is staged, session by session: what would
// damage a session is omitted as a whole. All operations of one call form one group, which an
// undo reverts together; each is atomic by itself, and a repeated call completes an interrupted
// one.
package mirrorer
