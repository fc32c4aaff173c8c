package buffer

import "time"

// DecodeResult decodes the output of a command.
var DecodeResult = decodeResult

// TasksOf returns the tasks of a batch that a processor found.
var TasksOf = tasksOf

// CommandWithGrace is [Command] with the time that processes with its output have after it
// has exited.
func CommandWithGrace(line string, grace time.Duration) Processor { return command(line, nil, grace) }
