package fault

// A Step is something that the caller can do after an [Error]. It is data: the
// command prints the verb to type, a server may omit it.
type Step struct {
	Do   Action
	Args []string // names and ids, in the order that the action defines
}

// Do returns the step for an action.
func Do(a Action, args ...string) Step { return Step{a, args} }

// An Action identifies what a [Step] does. If it has arguments, its comment lists them in order.
type Action string

const (
	AddRemote           Action = "add_remote"
	AppendMessage       Action = "append_message"
	BranchInstead       Action = "branch_instead"
	BranchSession       Action = "branch_session"     // the id of a session
	BranchToContinue    Action = "branch_to_continue" // the id of a session
	ChatWithAgent       Action = "chat_with_agent"    // the name of an agent
	ChooseEnds          Action = "choose_ends"
	ChooseFolder        Action = "choose_folder"
	ChooseWorkspace     Action = "choose_workspace"
	CloseClarifications Action = "close_clarifications"
	CompleteElsewhere   Action = "complete_elsewhere" // the folder of a workspace
	CompleteRestore     Action = "complete_restore"
	ContinueTurn        Action = "continue_turn"     // the name of an agent
	ContinueUndo        Action = "continue_undo"     // a verb, undo or redo
	DeleteTreeFirst     Action = "delete_tree_first" // the name of an agent, the id of a tree
	Examine             Action = "examine"
	FindFile            Action = "find_file"
	FindSession         Action = "find_session"
	ForceRemoval        Action = "force_removal"
	ForceReplace        Action = "force_replace"
	GiveText            Action = "give_text"
	ListAgents          Action = "list_agents"
	ListBookmarks       Action = "list_bookmarks"
	ListExplorations    Action = "list_explorations"
	ListOperations      Action = "list_operations"
	ListQueue           Action = "list_queue"  // the name of an agent
	ListRemote          Action = "list_remote" // the name of a remote
	ListRemotes         Action = "list_remotes"
	ListStates          Action = "list_states"
	ListTrash           Action = "list_trash"
	ListTrees           Action = "list_trees" // the name of an agent
	MoveAgent           Action = "move_agent" // the name of an agent
	MoveBookmark        Action = "move_bookmark"
	NameBranch          Action = "name_branch"
	NameFolder          Action = "name_folder"
	NameSession         Action = "name_session"
	OpenClarifications  Action = "open_clarifications"
	PackNew             Action = "pack_new"
	ReadPartial         Action = "read_partial"
	RemoveAgent         Action = "remove_agent" // the name of an agent
	RemoveAnyway        Action = "remove_anyway"
	RemoveLine          Action = "remove_line"
	RestoreOrDeleteTree Action = "restore_or_delete_tree"
	RestoreRemoved      Action = "restore_removed"
	ResumeReplay        Action = "resume_replay"       // the id of a session
	RetryTurn           Action = "retry_turn"          // the name of an agent
	RetryTurnOrQueue    Action = "retry_turn_or_queue" // the name of an agent, a number of messages in words
	RewindAgent         Action = "rewind_agent"        // the name of an agent, a node
	RewriteLinks        Action = "rewrite_links"       // a dialect
	SetHead             Action = "set_head"
	SetHeadAnywhere     Action = "set_head_anywhere"
	SetInShell          Action = "set_in_shell" // the folder of a workspace, the name of a setting
	SetModel            Action = "set_model"
	ShowPath            Action = "show_path" // its REF
	SnapFolder          Action = "snap_folder"
	SolveConflicts      Action = "solve_conflicts"
	SpeakMeanwhile      Action = "speak_meanwhile" // the name of an agent
	SwitchTree          Action = "switch_tree"     // the name of an agent
	UndoInSession       Action = "undo_in_session"
	WatchExploration    Action = "watch_exploration" // the id of an exploration
)
