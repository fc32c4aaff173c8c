// Package agent describes agents: an agent is an identity that owns several
// trees and has exactly one head.
//
// An agent is one file, agents/NAME.json, a JSON object:
//
//	id               a UUID, version 4
//	name             NAME
//	model_id         the model that answers, "" for none
//	system           the system prompt, "" for none
//	tree_ids         the ids of the trees, oldest first
//	trees            the same trees as objects: id, name, created_at, node_id
//	head             an object: tree_id, node_id
//	queue            undelivered messages of its user, a [turn.Queue]
//	turn             its current turn, a [turn.Turn]
//	memory_file      the absolute path of a file; absent for none
//	steer_policy     a [turn.SteerPolicy]
//	auto_checkpoint  whether an automatic checkpoint is made before a turn
//	created_at       when the agent was created
//
// A tree is a line, under the id of its first file. It has one owner. Its name
// is unique among the trees of the agent, or null. Its node_id is the last
// position of the head in the tree, null if the tree was empty then. archived
// is true for a tree that is not in use; the head is never in it. An agent has
// at least one tree. Its head is at a message of one of its trees, or, with the
// node_id null, in an empty tree.
//
// The members queue and turn belong to bough and are rewritten completely. They
// and steer_policy, auto_checkpoint, memory_file and archived may be absent, as in older
// files. Package agent/turn describes their states, package agent/model the
// models and tools that a turn uses.
//
// The package only converts bytes to values and back; it accesses no files. All
// other members of an object belong to other programs and are kept byte for
// byte.
package agent
