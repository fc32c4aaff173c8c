-- The tables that llm/migrations.py of simonw/llm makes up to m027 (without those for search and tools),
-- and rows as llm/logs.py of 0.32 writes them; written by hand, not by the program, so the hashes are none.
-- The conversation aa began before 0.32.
CREATE TABLE conversations(id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE schemas(id TEXT PRIMARY KEY, content TEXT);
CREATE TABLE responses(id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT, options_json TEXT, response TEXT, response_json TEXT,
	conversation_id TEXT REFERENCES conversations(id), duration_ms INTEGER, datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT,
	schema_id TEXT REFERENCES schemas(id), resolved_model TEXT, reasoning TEXT);
CREATE TABLE attachments(id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
CREATE TABLE fragments(id INTEGER PRIMARY KEY, hash TEXT, content TEXT, datetime_utc TEXT, source TEXT);
CREATE TABLE messages(hash TEXT PRIMARY KEY, parent_hash TEXT REFERENCES messages(hash), role TEXT, provider_metadata TEXT);
CREATE INDEX idx_messages_parent_hash ON messages(parent_hash);
CREATE TABLE parts(id INTEGER PRIMARY KEY, message_hash TEXT REFERENCES messages(hash), position INTEGER, type TEXT, tool_name TEXT, text TEXT, payload TEXT);
CREATE UNIQUE INDEX idx_parts_message_hash_position ON parts(message_hash, position);
CREATE TABLE part_attachments(part_id INTEGER, attachment_id TEXT, "order" INTEGER, PRIMARY KEY(part_id, attachment_id, "order"));
CREATE TABLE part_fragments(part_id INTEGER, fragment_id INTEGER, "order" INTEGER, PRIMARY KEY(part_id, fragment_id, "order"));
CREATE TABLE threads(id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT REFERENCES messages(hash), forked_from TEXT REFERENCES threads(id), datetime_utc TEXT);
CREATE TABLE turns(id TEXT PRIMARY KEY, thread_id TEXT REFERENCES threads(id), parent_message_hash TEXT, tip_message_hash TEXT, model TEXT, resolved_model TEXT,
	options_json TEXT, schema_id TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT, duration_ms INTEGER, datetime_utc TEXT, response_json TEXT);
CREATE INDEX idx_turns_thread_id ON turns(thread_id);

INSERT INTO conversations VALUES('01jxa0000000000000000000aa', 'Which birds sing at night?', 'gpt-4o-mini');
INSERT INTO responses(id, model, prompt, response, conversation_id, datetime_utc) VALUES
	('01jxa0000000000000000000a1', 'gpt-4o-mini', 'Which birds sing at night?', 'Nightingales.', '01jxa0000000000000000000aa', '2026-07-10T08:00:00+00:00'),
	('01jxa0000000000000000000a2', 'gpt-4o-mini', 'And at noon?', 'None.', '01jxa0000000000000000000aa', '2026-08-10T08:00:00+00:00');
INSERT INTO fragments VALUES(1, 'h1', 'A long text about wrens.', '2026-08-11T07:00:00+00:00', '/home/dev/wrens.txt');
INSERT INTO attachments VALUES('a1', 'image/png', NULL, NULL, x'89504e470d0a1a0a');
INSERT INTO messages VALUES('b2:a1', NULL, 'user', NULL), ('b2:a2', 'b2:a1', 'assistant', NULL), ('b2:a3', 'b2:a2', 'user', NULL), ('b2:a4', 'b2:a3', 'assistant', NULL),
	('b2:b0', NULL, 'system', NULL), ('b2:b1', 'b2:b0', 'user', NULL), ('b2:b2', 'b2:b1', 'assistant', '{"id": "resp_1"}'), ('b2:b3', 'b2:b2', 'tool', NULL), ('b2:b4', 'b2:b3', 'assistant', NULL),
	('b2:b5', 'b2:b2', 'user', NULL), ('b2:b6', 'b2:b5', 'assistant', NULL);
INSERT INTO parts(message_hash, position, type, tool_name, text, payload) VALUES
	('b2:a1', 0, 'text', NULL, 'Which birds sing at night?', NULL), ('b2:a2', 0, 'text', NULL, 'Nightingales.', NULL), ('b2:a3', 0, 'text', NULL, 'And at noon?', NULL), ('b2:a4', 0, 'text', NULL, 'None.', NULL),
	('b2:b0', 0, 'text', NULL, 'Be brief.', NULL),
	('b2:b1', 0, 'text', NULL, NULL, '{"text_ref": [{"fragment": 1}, {"literal": "\nWhich bird?"}]}'), ('b2:b1', 1, 'attachment', NULL, NULL, '{"attachment": {"id": "a1"}}'),
	('b2:b2', 0, 'reasoning', NULL, 'A tool knows.', '{"provider_metadata": {"openai": {"encrypted_content": "gAAA"}}}'),
	('b2:b2', 1, 'tool_call', 'search', NULL, '{"name": "search", "arguments": {"q": "wren"}, "tool_call_id": "ws_1", "server_executed": true}'),
	('b2:b2', 2, 'tool_result', 'search', NULL, '{"name": "search", "output": "Found it", "tool_call_id": "ws_1", "server_executed": true}'),
	('b2:b2', 3, 'text', NULL, 'I look.', NULL),
	('b2:b2', 4, 'tool_call', 'look', NULL, '{"name": "look", "arguments": {"at": "a1"}, "tool_call_id": "call_1"}'),
	('b2:b3', 0, 'tool_result', 'look', NULL, '{"name": "look", "output": "Error: dark", "tool_call_id": "call_1", "exception": "ValueError: dark", "attachments": [{"id": "a1"}]}'),
	('b2:b4', 0, 'text', NULL, 'A wren.', NULL), ('b2:b5', 0, 'text', NULL, 'Stop.', NULL), ('b2:b6', 0, 'text', NULL, 'Stopped.', NULL);
INSERT INTO threads VALUES('01jxa0000000000000000000aa', 'Which birds sing at night?', 'b2:a4', NULL, '2026-08-10 08:00:00.000001+00:00'),
	('01jxb0000000000000000000bb', 'Which bird?', 'b2:b6', NULL, '2026-08-11 08:00:00.000001+00:00'),
	('01jxc0000000000000000000cc', NULL, 'b2:b4', '01jxb0000000000000000000bb', '2026-08-12 08:00:00.000001+00:00');
INSERT INTO turns(id, thread_id, parent_message_hash, tip_message_hash, model, resolved_model, options_json, datetime_utc, response_json) VALUES
	('01jxa0000000000000000000a2', '01jxa0000000000000000000aa', 'b2:a3', 'b2:a4', 'gpt-5', 'gpt-5-1', NULL, '2026-08-10T08:00:00+00:00', '{"id": "resp_0"}'),
	('01jxb0000000000000000000b1', '01jxb0000000000000000000bb', 'b2:b1', 'b2:b2', 'gpt-5', NULL, '{"temperature": 1}', '2026-08-11T08:00:00+00:00', NULL),
	('01jxb0000000000000000000b2', '01jxb0000000000000000000bb', 'b2:b3', 'b2:b4', 'gpt-5', NULL, NULL, '2026-08-11T08:00:05+00:00', NULL),
	('01jxb0000000000000000000b3', '01jxb0000000000000000000bb', 'b2:b5', 'b2:b6', 'gpt-5', NULL, NULL, '2026-08-11T08:01:00+00:00', NULL);
