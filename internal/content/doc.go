// Package content is what one message says: who speaks, and the parts of what is
// said, in the terms of Acontext. It reads messages in the forms of model providers,
// writes them in these forms, and knows how they stand in a session file. It is
// pure: bytes in, bytes out.
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
// # In and out
//
// [Parse] takes a message in one of four forms, [Items] gives messages in one, always
// one item for each message. What a form says that the parts have no place for stays
// in [Own] and in meta under its own name, and is given back in the same form. In
// another form it is left out, and so is a part that the other form does not know; a
// block of Anthropic's of a type that is not known here is kept whole, for that form:
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
// A message of several tool results is one message in the forms of Anthropic and
// Gemini, and several in that of OpenAI. As there is one item for each message, it
// becomes one of role tool with the id of the first result and a text part for each
// result, and for each text that stands with them.
//
// A tool result of Anthropic may hold more than text. Then meta.content is all of it,
// and the part's text is the text in it, which is what the other forms get.
//
// # In a session file
//
// [Message.Stored] says what stands in the file, [Read] reads it again, and makes of a
// message that another program wrote what can be made of it. The role is system for
// a message that was system or developer, tool for one of tool results only, else
// the message's. The content is a string if the message is one text and nothing
// else, otherwise an array of parts. The rest are members for the message's
// metadata.bough:
//
//	format         the form that the message came in
//	name           who speaks
//	original_role  the role that the message had there, if the file's does not say it
//	rest           what else the form said of it, an object
package content
