// Package agent is what is known of an agent: an identity that owns several trees
// and has exactly one head.
//
// An agent is one file, agents/NAME.json, a JSON object:
//
//	id               a UUID, version 4
//	name             the same as that of the file
//	model_id         the model that answers, "" if none is chosen
//	system           what the model is told before anything else, "" for nothing
//	tree_ids         the ids of the trees, oldest first
//	trees            the same trees as objects: id, name, created_at, node_id
//	head             an object: tree_id, node_id
//	queue            what its user said that is not delivered yet, a [Queue]
//	turn             what it does, a [Turn]
//	steer_policy     a [SteerPolicy]
//	auto_checkpoint  whether an automatic checkpoint is made before a turn
//	created_at       when the agent was made
//
// A tree is a line, under the id of its first file. It has one owner. Its name, null
// if it has none, is unique among the trees of the agent; its node_id is where the
// head was when it last was in the tree, null if it was in it only while it was
// empty; archived is true of one that is not needed now, which the head is not in. An
// agent has one tree at least, and the head is in one of its trees, at a message, or
// with the node_id null in an empty tree.
//
// What an agent does with a prompt is a [Turn], and what its user says meanwhile a
// [Queue]: state machines that decide and do nothing, for whoever carries them out with
// a [Model] and [Tools]. These two members belong to bough and are written as a whole;
// they, steer_policy, auto_checkpoint and archived may be missing, as in files that are
// older than they.
//
// Everything here is bytes in, values out, and back; no file is touched. What an
// object holds beyond that belongs to others, and stays as it is, byte for byte.
package agent
