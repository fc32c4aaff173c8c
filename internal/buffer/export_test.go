package buffer

// DecodeResult reads what a command answers.
var DecodeResult = decodeResult

// TasksOf returns the tasks of a batch that a processor found.
var TasksOf = tasksOf
