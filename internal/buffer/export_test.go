package buffer

// DecodeResult decodes the output of a command.
var DecodeResult = decodeResult

// TasksOf returns the tasks of a batch that a processor found.
var TasksOf = tasksOf
