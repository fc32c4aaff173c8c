// Package content has the content of messages: the role and the parts, in Acontext's
// terms. It reads and writes the formats of model providers and of
// session files. It is pure: bytes in, bytes out.
//
// A [Message] has the role user or assistant and a list of parts. A [Part] has a type
// (text, image, audio, video, file, tool-call, tool-result, data, thinking,
// redacted_thinking), mostly a text, perhaps a file, and meta, an object whose members
// depend on the type:
//
//	text               cache_control, is_refusal
//	image, video       url, or media_type and data (base64), or file_id; detail
//	audio              data and format, or as an image
//	file               as an image, or file_data; filename
//	tool-call          id, name, arguments (JSON as text), type
//	tool-result        tool_call_id, name, is_error; content, see below
//	data               data_type
//	thinking           signature
//	redacted_thinking  data
//
// # Formats
//
// [Parse] decodes a message in one of four formats, [Items] encodes messages in
// one, always with one item per message. Members of a format without a place in the
// parts are kept in [Own] and in meta under their own names, and are written again
// in the same format. Other formats drop them, and drop parts that they do not
// support. A block of Anthropic's of an unknown type is kept unchanged for that
// format:
//
//	            openai             anthropic       gemini
//	system      the role again     user            user
//	thinking    text               thinking        thought
//	redacted    -                  as it was       -
//	audio       input_audio        -               inlineData
//	video       its URL            -               inlineData, fileData
//	file        file, or its URL   document        inlineData, fileData
//	data        its text           its text        its text
//
// A message with several tool results is one message in the formats of Anthropic
// and Gemini, and several in OpenAI's. As there is one item per message, it becomes
// one of role tool with the id of the first result and a text part for each result
// and for each text between them.
//
// A tool result of Anthropic may contain more than text. Then meta.content is all
// of it, and the part's text is the text in it, which the other formats use.
//
// # Session files
//
// [Message.Stored] returns the stored form, and [Read] decodes it, as well as
// messages of other programs as far as possible. The role is system for a message
// that was system or developer, tool for one with only tool results, else the
// message's role. The content is a string if the message is a single text,
// otherwise an array of parts. The rest are members of the message's
// metadata.bough:
//
//	format         the original format of the message
//	name           the name of the author
//	original_role  the original role, if it differs
//	rest           its other members, an object
package content
