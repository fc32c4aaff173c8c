// Package pack stores items, which are byte strings such as messages, compressed in
// one file. Items are numbered from 0 without gaps and keep their numbers; objects are
// items that are found by their SHA-256. A pack is appended to, or replaced as a whole by
// the result of [Pack.Rewrite]. The package opens packs and encodes frames; the caller
// locks, writes, fsyncs and renames.
//
// # The file
//
// A pack is a sequence of frames. Each holds one or more whole items, one after the
// other: up to 1 MiB, or a single larger item. A frame is a header, which is a
// skippable frame of the Zstandard format (RFC 8878), followed by a Zstandard frame
// with the content. So 'zstd -t' checks a pack and 'zstd -dc' prints all items in order.
//
// A header is, with integers in little-endian order:
//
//	4 bytes   magic number of a skippable frame: 0x184D2A50
//	4 bytes   number of the bytes that follow
//	a line    a JSON object, followed by a line break
//	a table   of each item: its size as an unsigned varint (LEB128), and 8 bytes, its XXH64
//	4 bytes   CRC-32C of the line and the table
//
// The members of the object, in this order; a reader ignores other ones after them:
//
//	first          number of the first item
//	offset         of the header in the file
//	items          number of items
//	bytes          size of the content
//	stored         size of the Zstandard frame
//	crc32c         CRC-32C of the content, eight hexadecimal digits
//	stored_crc32c  CRC-32C of the Zstandard frame
//	raw            true if the Zstandard frame has only uncompressed blocks and no checksum;
//	               else absent, as the following members
//	hash           "sha256" if the items are objects
//	part           number of the part, from 1, if the item is a part of an object
//	object         SHA-256 of the object, if the item is its last part
//
// Raw frames are written at the speed of a copy. [Pack.Rewrite] compresses them.
//
// # Holes
//
// An item that was removed is a hole: its content becomes [Hole], which no other item
// may have. If each item is a comma, white space and a JSON value, as messages in packed
// checkpoints are, this prints all of them as an array, with null for each hole:
//
//	(printf '[null'; zstd -dc FILE; printf ']') | jq '.[1:]'
//
// # Objects
//
// An item of a pack of objects, such as files, is found by its SHA-256, which the table has
// in place of the XXH64: 32 bytes. All frames of a pack are of one kind. An object larger
// than 1 MiB has several parts. Each is a frame with one item, and they follow each other
// with the numbers 1, 2, 3 and so on; the last one has the hash of the object. Parts without
// a last one belong to no object: they remain if the source of the object failed. An
// [Index] of several packs is made from their headers alone. A pack of objects is rewritten
// without what was removed, and has no holes.
//
// # Damage
//
// The readable part of a pack is its whole frames: a header with the right checksum,
// offset and number, and after it as many bytes as it states. After a damaged header
// readers search for the next header that states its own offset, and numbers items from
// there, so damage affects only the items of its own frame. Bytes after the last whole
// frame are an interrupted append; the next append replaces them.
//
// A header of a file is not trusted: it never makes a reader allocate more memory than
// the stored bytes can decompress to.
package pack
