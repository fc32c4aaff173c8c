// Package follower imports the conversations of other programs while these write
// them: it watches the folders of the programs and imports the files that changed.
package follower
