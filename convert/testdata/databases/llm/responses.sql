-- The tables that llm/migrations.py of simonw/llm makes up to m022 (without those for search), and rows
-- as log_to_db of llm/models.py wrote them before 0.32; written by hand, not by the program.
CREATE TABLE _llm_migrations(name TEXT PRIMARY KEY, applied_at TEXT);
CREATE TABLE conversations(id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE schemas(id TEXT PRIMARY KEY, content TEXT);
CREATE TABLE responses(id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT, options_json TEXT, response TEXT, response_json TEXT,
	conversation_id TEXT REFERENCES conversations(id), duration_ms INTEGER, datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT,
	schema_id TEXT REFERENCES schemas(id), resolved_model TEXT, reasoning TEXT);
CREATE TABLE attachments(id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
CREATE TABLE prompt_attachments(response_id TEXT, attachment_id TEXT, "order" INTEGER, PRIMARY KEY(response_id, attachment_id));
CREATE TABLE fragments(id INTEGER PRIMARY KEY, hash TEXT, content TEXT, datetime_utc TEXT, source TEXT);
CREATE TABLE prompt_fragments(response_id TEXT, fragment_id INTEGER, "order" INTEGER, PRIMARY KEY(response_id, fragment_id, "order"));
CREATE TABLE system_fragments(response_id TEXT, fragment_id INTEGER, "order" INTEGER, PRIMARY KEY(response_id, fragment_id, "order"));
CREATE TABLE tools(id INTEGER PRIMARY KEY, hash TEXT, name TEXT, description TEXT, input_schema TEXT, plugin TEXT);
CREATE TABLE tool_responses(tool_id INTEGER, response_id TEXT, PRIMARY KEY(tool_id, response_id));
CREATE TABLE tool_instances(id INTEGER PRIMARY KEY, plugin TEXT, name TEXT, arguments TEXT);
CREATE TABLE tool_calls(id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, arguments TEXT, tool_call_id TEXT);
CREATE TABLE tool_results(id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, output TEXT, tool_call_id TEXT, instance_id INTEGER, exception TEXT);
CREATE TABLE tool_results_attachments(tool_result_id INTEGER, attachment_id TEXT, "order" INTEGER, PRIMARY KEY(tool_result_id, attachment_id));

INSERT INTO conversations VALUES('01jxa0000000000000000000aa', 'Which birds sing at night?', 'gpt-4o-mini'), ('01jxb0000000000000000000bb', 'See these', 'gpt-4o-mini');
INSERT INTO schemas VALUES('s1', '{"type": "object"}');
INSERT INTO responses(id, model, prompt, system, prompt_json, options_json, response, response_json, conversation_id, duration_ms, datetime_utc, schema_id, resolved_model, reasoning) VALUES
	('01jxa0000000000000000000a1', 'gpt-4o-mini', 'Which birds sing at night?', 'Be brief.', '{"messages": []}', '{"temperature": 0.5}', 'Nightingales.', '{"id": "x", "content": {"$": "r:01jxa0000000000000000000a1"}}', '01jxa0000000000000000000aa', 812, '2025-06-10T08:00:00.000001+00:00', NULL, 'gpt-4o-mini-2024-07-18', NULL),
	('01jxa0000000000000000000a2', 'gpt-4o-mini', 'What time is it?', 'Be brief.', NULL, '{}', '', NULL, '01jxa0000000000000000000aa', 500, '2025-06-10T08:01:00+00:00', NULL, NULL, 'A tool knows.'),
	('01jxa0000000000000000000a3', 'gpt-4o-mini', '', 'Be brief.', NULL, '{}', 'It is 8:01.', NULL, '01jxa0000000000000000000aa', 400, '2025-06-10T08:01:02', 's1', NULL, NULL),
	('01jxb0000000000000000000b1', 'gpt-4o-mini', 'See these', NULL, NULL, '{}', 'A wren.', NULL, '01jxb0000000000000000000bb', 900, '2025-06-11T08:00:00+00:00', NULL, NULL, NULL),
	('01jxc0000000000000000000c1', 'old', 'Alone?', NULL, NULL, NULL, 'Yes.', NULL, NULL, 900, '2025-06-12T08:00:00+00:00', NULL, NULL, NULL);
INSERT INTO tool_calls VALUES(1, '01jxa0000000000000000000a2', 1, 'clock', '{"zone": "UTC"}', 'call_1'), (2, '01jxa0000000000000000000a2', 1, 'sun', '{}', 'call_2');
INSERT INTO tool_results VALUES(1, '01jxa0000000000000000000a3', 1, 'clock', '8:01', 'call_1', NULL, NULL), (2, '01jxa0000000000000000000a3', 1, 'sun', 'Error: no sun', 'call_2', NULL, 'ValueError: no sun');
INSERT INTO tool_results_attachments VALUES(1, 'a1', 0);
INSERT INTO attachments VALUES('a1', 'image/png', NULL, NULL, x'89504e470d0a1a0a'), ('a2', 'audio/mpeg', '/home/dev/wren song.mp3', NULL, NULL), ('a3', 'application/pdf', NULL, 'https://birds.example/a.pdf', NULL);
INSERT INTO prompt_attachments VALUES('01jxb0000000000000000000b1', 'a3', 2), ('01jxb0000000000000000000b1', 'a1', 0), ('01jxb0000000000000000000b1', 'a2', 1);
INSERT INTO fragments VALUES(1, 'h1', 'A long text about wrens.', '2025-06-11T07:00:00+00:00', '/home/dev/wrens.txt'), (2, 'h2', 'Name the bird.', '2025-06-11T07:00:00+00:00', NULL);
INSERT INTO prompt_fragments VALUES('01jxb0000000000000000000b1', 1, 0);
INSERT INTO system_fragments VALUES('01jxb0000000000000000000b1', 2, 0);
