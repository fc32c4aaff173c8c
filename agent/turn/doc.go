// Package turn decides what an agent does next. A [Turn] is the processing of one
// prompt, and a [Queue] holds the messages that its user sends meanwhile.
//
// Both are pure state machines. [Turn.Step] takes an [Event] and returns [Action]s; the
// caller stores the turn and the queue, and then executes the actions with a
// [model.Model] and [model.Tools]. The messages that a turn writes are [Node]s, and
// [Context] returns the messages that the model gets.
//
// The two are members of an agent's file, with their JSON as it is here.
package turn
