// Package turn decides what an agent does next. A [Turn] is the processing of
// one prompt, and a [Queue] has the messages that the user sends during it.
//
// Both are pure state machines. [Turn.Step] takes an [Event] and returns
// [Action]s; the caller stores the turn and the queue, and then executes the
// actions with a [model.Model] and [model.Tools]. A turn writes messages as
// [Node]s, and [Context] selects the messages of a path that are sent to the
// model.
//
// Both are stored as members of an agent's file, in the JSON defined here.
package turn
