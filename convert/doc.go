// Package convert reads the transcripts that other assistants keep, and writes them, so
// that a conversation can be taken in with all its branches, and a branch of it be given
// back to the program that it came from, or to another. It is pure: readers and writers,
// and no file is opened here. docs/formats.md says what each format carries.
//
// A [Format] is one row of [Formats], in the file of its name; the writer of a large one
// has a file of its own, and requests to OpenAI and to Anthropic share one. A transcript
// is read message by message into a [transcript.Sink], so that one of any size takes little memory,
// and written from a [transcript.Transcript].
//
// # Messages
//
// A [transcript.Message] is what somebody said, what a tool answered, or a summary that stands for
// what came before it. What else a transcript has (names, snapshots of files, settings,
// counts of tokens, notices) is no message: it rides along as a record.
//
// The tree is the one that the user made. Where a program keeps a tree, its links are
// followed; where it is linear and marks that it went back, what it went back over is a
// side branch. Calls that a model made at once, and an answer that was stored in pieces,
// are one path, whatever links its program gave them. A message whose parent is nowhere
// is kept with the name of that parent, as an orphan; nothing is ever stitched. What was
// compacted stays, and the summary comes after it.
//
// # Records
//
// Every message has the records that it was made of, byte for byte, and those that ride
// along: [transcript.Message.Records]. So all records of a transcript are there in order, and
// writing a conversation in the format that it came from writes the same records, but
// for ids and links that must differ. Messages without records of the format, because
// they were said elsewhere, are put into its words; what it has no words for is a
// [transcript.Loss], which is told.
package convert

// Where to look for what formats share:
//
//	lines.go, document.go, export.go   reading and writing files that are too large for memory
//	shape.go                           telling what a file is from its beginning
//	thread.go, weave.go                trees of records that name the one before them: read, written
//	linear.go, order.go, outline.go    trees in files that are linear, or have an order
//	members.go, times.go, id.go        single records
//	parts.go, calls.go, kept.go        what messages say
//	losses.go                          what is lost
//	checked.go, memory.go, stored.go   sinks, and messages in session files
//	home.go                            programs on a machine
