-- The tables and rows that llm 0.27.1 wrote, and 0.32 after it in the same file, without those for search and migrations.
-- The model is one that echoes prompts. 0.32 continued both conversations; the third one and its fork are its own.
CREATE TABLE [conversations] ( [id] TEXT PRIMARY KEY, [name] TEXT, [model] TEXT );
CREATE TABLE [attachments] ( [id] TEXT PRIMARY KEY, [type] TEXT, [path] TEXT, [url] TEXT, [content] BLOB );
CREATE TABLE [prompt_attachments] ( [response_id] TEXT REFERENCES [responses]([id]), [attachment_id] TEXT REFERENCES [attachments]([id]), [order] INTEGER, PRIMARY KEY ([response_id], [attachment_id]) );
CREATE TABLE [schemas] ( [id] TEXT PRIMARY KEY, [content] TEXT );
CREATE TABLE "responses" ( [id] TEXT PRIMARY KEY, [model] TEXT, [prompt] TEXT, [system] TEXT, [prompt_json] TEXT, [options_json] TEXT, [response] TEXT, [response_json] TEXT, [conversation_id] TEXT REFERENCES [conversations]([id]), [duration_ms] INTEGER, [datetime_utc] TEXT, [input_tokens] INTEGER, [output_tokens] INTEGER, [token_details] TEXT, [schema_id] TEXT REFERENCES [schemas]([id]) , [resolved_model] TEXT, "reasoning" TEXT);
CREATE TABLE [fragments] ( [id] INTEGER PRIMARY KEY, [hash] TEXT, [content] TEXT, [datetime_utc] TEXT, [source] TEXT );
CREATE TABLE [fragment_aliases] ( [alias] TEXT PRIMARY KEY, [fragment_id] INTEGER REFERENCES [fragments]([id]) );
CREATE TABLE "prompt_fragments" ( [response_id] TEXT REFERENCES [responses]([id]), [fragment_id] INTEGER REFERENCES [fragments]([id]), [order] INTEGER, PRIMARY KEY ([response_id], [fragment_id], [order]) );
CREATE TABLE "system_fragments" ( [response_id] TEXT REFERENCES [responses]([id]), [fragment_id] INTEGER REFERENCES [fragments]([id]), [order] INTEGER, PRIMARY KEY ([response_id], [fragment_id], [order]) );
CREATE TABLE [tools] ( [id] INTEGER PRIMARY KEY, [hash] TEXT, [name] TEXT, [description] TEXT, [input_schema] TEXT , [plugin] TEXT);
CREATE TABLE [tool_responses] ( [tool_id] INTEGER REFERENCES [tools]([id]), [response_id] TEXT REFERENCES [responses]([id]), PRIMARY KEY ([tool_id], [response_id]) );
CREATE TABLE [tool_calls] ( [id] INTEGER PRIMARY KEY, [response_id] TEXT REFERENCES [responses]([id]), [tool_id] INTEGER REFERENCES [tools]([id]), [name] TEXT, [arguments] TEXT, [tool_call_id] TEXT );
CREATE TABLE [tool_results] ( [id] INTEGER PRIMARY KEY, [response_id] TEXT REFERENCES [responses]([id]), [tool_id] INTEGER REFERENCES [tools]([id]), [name] TEXT, [output] TEXT, [tool_call_id] TEXT , [instance_id] INTEGER, [exception] TEXT, FOREIGN KEY([instance_id]) REFERENCES [tool_instances]([id]) );
CREATE TABLE [tool_results_attachments] ( [tool_result_id] INTEGER REFERENCES [tool_results]([id]), [attachment_id] TEXT REFERENCES [attachments]([id]), [order] INTEGER, PRIMARY KEY ([tool_result_id], [attachment_id]) );
CREATE TABLE "messages" ( "hash" TEXT PRIMARY KEY, "parent_hash" TEXT REFERENCES "messages"("hash"), "role" TEXT, "provider_metadata" TEXT );
CREATE TABLE "parts" ( "id" INTEGER PRIMARY KEY, "message_hash" TEXT REFERENCES "messages"("hash"), "position" INTEGER, "type" TEXT, "tool_name" TEXT, "text" TEXT, "payload" TEXT );
CREATE TABLE "part_attachments" ( "part_id" INTEGER REFERENCES "parts"("id"), "attachment_id" TEXT REFERENCES "attachments"("id"), "order" INTEGER, PRIMARY KEY ("part_id", "attachment_id", "order") );
CREATE TABLE "part_fragments" ( "part_id" INTEGER REFERENCES "parts"("id"), "fragment_id" INTEGER REFERENCES "fragments"("id"), "order" INTEGER, PRIMARY KEY ("part_id", "fragment_id", "order") );
CREATE TABLE "threads" ( "id" TEXT PRIMARY KEY, "name" TEXT, "tip_message_hash" TEXT REFERENCES "messages"("hash"), "forked_from" TEXT REFERENCES "threads"("id"), "datetime_utc" TEXT );
CREATE TABLE "turns" ( "id" TEXT PRIMARY KEY, "thread_id" TEXT REFERENCES "threads"("id"), "parent_message_hash" TEXT REFERENCES "messages"("hash"), "tip_message_hash" TEXT REFERENCES "messages"("hash"), "model" TEXT, "resolved_model" TEXT, "options_json" TEXT, "schema_id" TEXT REFERENCES "schemas"("id"), "input_tokens" INTEGER, "output_tokens" INTEGER, "token_details" TEXT, "duration_ms" INTEGER, "datetime_utc" TEXT , "response_json" TEXT);
CREATE TABLE "turn_fragments" ( "turn_id" TEXT REFERENCES "turns"("id"), "fragment_id" INTEGER REFERENCES "fragments"("id"), "order" INTEGER, "kind" TEXT, PRIMARY KEY ("turn_id", "fragment_id", "kind", "order") );
CREATE TABLE "turn_tools" ( "turn_id" TEXT REFERENCES "turns"("id"), "tool_id" INTEGER REFERENCES "tools"("id"), "instance_id" INTEGER REFERENCES "tool_instances"("id"), PRIMARY KEY ("turn_id", "tool_id") );
INSERT INTO "conversations" VALUES
	('01m8kqn6jppd6whmzf6evnn9w6', 'Which birds sing?', 'echo'),
	('01m8kqn9g8ep71awj49hbj64vx', 'A long text about wrens. It has…', 'echo');
INSERT INTO "attachments" VALUES
	('5e20daa2cbd0901d6d8445e70f822c09a9dc7f8d3b9328eb1485942ac1001515', 'image/png', NULL, 'https://birds.example/a.png', NULL),
	('b1ff9c8ea3a780bad09b346c423d2d0e46815926879b18e841d928376a946640', 'image/png', NULL, NULL, X'89504E470D0A1A0A0000000D4948445200000001000000010802000000907753DE0000000C49444154789C63F8CFC0000003010100C9FE92EF0000000049454E44AE426082');
INSERT INTO "prompt_attachments" VALUES
	('01m8kqn9gcaj9seb9m57js9n2p', 'b1ff9c8ea3a780bad09b346c423d2d0e46815926879b18e841d928376a946640', 0),
	('01m8kqn9gdwe4r62a6kv6xk3sw', 'b1ff9c8ea3a780bad09b346c423d2d0e46815926879b18e841d928376a946640', 0);
INSERT INTO "responses" VALUES
	('01m8kqn6jppd6whmzf6evnn9w5', 'echo', 'Which birds sing?', NULL, NULL, '{}', 'Echo of Which birds sing?', '{"id": "resp_1"}', '01m8kqn6jppd6whmzf6evnn9w6', 0, '2026-11-29T13:24:36.054285+00:00', 3, 4, NULL, NULL, 'echo-2026', NULL),
	('01m8kqn88jtx8trknz6dxpgyde', 'echo', 'And at noon?', NULL, NULL, '{}', 'Echo of And at noon?', '{"id": "resp_1"}', '01m8kqn6jppd6whmzf6evnn9w6', 0, '2026-11-29T13:24:37.778676+00:00', 3, 4, NULL, NULL, 'echo-2026', NULL),
	('01m8kqn9gcaj9seb9m57js9n2p', 'echo', 'Which bird? use picture', 'Be brief.', NULL, '{"temperature": 0.5}', 'I look.', '{"id": "resp_1"}', '01m8kqn9g8ep71awj49hbj64vx', 0, '2026-11-29T13:24:39.052729+00:00', 3, 4, NULL, NULL, 'echo-2026', NULL),
	('01m8kqn9gdwe4r62a6kv6xk3sw', 'echo', '', NULL, NULL, '{"temperature": 0.5}', 'Found: I see tree; Error: it is dark; Here it is', '{"id": "resp_1"}', '01m8kqn9g8ep71awj49hbj64vx', 0, '2026-11-29T13:24:39.053144+00:00', 3, 4, NULL, NULL, 'echo-2026', NULL),
	('01m8kqnamt5q00zzx7ggmm8cnr', 'echo', 'And then?', NULL, NULL, '{}', 'Echo of And then?', '{"id": "resp_1"}', '01m8kqn9g8ep71awj49hbj64vx', 0, '2026-11-29T13:24:40.218962+00:00', 3, 4, NULL, NULL, 'echo-2026', NULL);
INSERT INTO "fragments" VALUES
	(1, '069f9c2e32abe060318f32472a534a242b53505b4a9d4e42ebbed3a3bd0bcbd3', 'A long text about wrens.
It has two lines.
', '2026-11-29 13:24:39', '/home/ann/wrens.txt');
INSERT INTO "prompt_fragments" VALUES
	('01m8kqn9gcaj9seb9m57js9n2p', 1, 0);
INSERT INTO "tools" VALUES
	(1, 'a6a5bef6ab1193bf8c54169dad651b5f79ef5fbc3439bdc3ae6ac470d3816a05', 'look', 'Look at a place', '{"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}', 'llm.default_plugins.openai_models'),
	(2, 'e1e1186138d839ddc1d8c99dd7f07ab0cb21c86cda4cb68b9ed09bf312a26116', 'picture', 'A picture', '{"type": "object", "properties": {}}', 'llm.default_plugins.openai_models');
INSERT INTO "tool_responses" VALUES
	(1, '01m8kqn9gcaj9seb9m57js9n2p'),
	(2, '01m8kqn9gcaj9seb9m57js9n2p'),
	(1, '01m8kqn9gdwe4r62a6kv6xk3sw'),
	(2, '01m8kqn9gdwe4r62a6kv6xk3sw'),
	(1, '01m8kqnamt5q00zzx7ggmm8cnr'),
	(2, '01m8kqnamt5q00zzx7ggmm8cnr');
INSERT INTO "tool_calls" VALUES
	(1, '01m8kqn9gcaj9seb9m57js9n2p', 1, 'look', '{"at": "tree"}', 'call_0'),
	(2, '01m8kqn9gcaj9seb9m57js9n2p', 1, 'look', '{"at": "dark"}', 'call_1'),
	(3, '01m8kqn9gcaj9seb9m57js9n2p', 2, 'picture', '{}', 'call_9');
INSERT INTO "tool_results" VALUES
	(1, '01m8kqn9gdwe4r62a6kv6xk3sw', 1, 'look', 'I see tree', 'call_0', NULL, NULL),
	(2, '01m8kqn9gdwe4r62a6kv6xk3sw', 1, 'look', 'Error: it is dark', 'call_1', NULL, 'ValueError: it is dark'),
	(3, '01m8kqn9gdwe4r62a6kv6xk3sw', 2, 'picture', 'Here it is', 'call_9', NULL, NULL);
INSERT INTO "tool_results_attachments" VALUES
	(3, 'b1ff9c8ea3a780bad09b346c423d2d0e46815926879b18e841d928376a946640', 0);
INSERT INTO "messages" VALUES
	('b2:074dea0bd0259e0d5dca16426a45e4f5', NULL, 'system', NULL),
	('b2:5075c9e50e3d7ee6ef935bf7ff19f6f8', 'b2:074dea0bd0259e0d5dca16426a45e4f5', 'user', NULL),
	('b2:d89bf786f79099ed2a4a7d1667c19169', 'b2:5075c9e50e3d7ee6ef935bf7ff19f6f8', 'assistant', NULL),
	('b2:2f00945b70ea2b4247c210cab85ce15a', 'b2:d89bf786f79099ed2a4a7d1667c19169', 'tool', NULL),
	('b2:ab5b72f1f3bce8ba62470cc1aa0c0c5d', 'b2:2f00945b70ea2b4247c210cab85ce15a', 'assistant', NULL),
	('b2:3d7c57db62f81a310a60170598ad9414', 'b2:ab5b72f1f3bce8ba62470cc1aa0c0c5d', 'user', NULL),
	('b2:3fa06c09154463a0b93b5df6fdbc9948', 'b2:3d7c57db62f81a310a60170598ad9414', 'assistant', NULL),
	('b2:48f7c85e315efeb81046afeec8140a44', 'b2:3fa06c09154463a0b93b5df6fdbc9948', 'user', NULL),
	('b2:12a7dd0b691921b2081459f14e675391', 'b2:48f7c85e315efeb81046afeec8140a44', 'assistant', NULL),
	('b2:e29fc39bb4c19082b203313836e5740b', NULL, 'user', NULL),
	('b2:473ea0f3dbc3c80db8d65cf5f24b3a70', 'b2:e29fc39bb4c19082b203313836e5740b', 'assistant', NULL),
	('b2:bfc62210da83c1b05aaed5c27da34231', 'b2:473ea0f3dbc3c80db8d65cf5f24b3a70', 'user', NULL),
	('b2:f7db55196c38471c5e7432b05f4597e1', 'b2:bfc62210da83c1b05aaed5c27da34231', 'assistant', NULL),
	('b2:0e155eb623a2601cb525c218c1229168', 'b2:f7db55196c38471c5e7432b05f4597e1', 'user', NULL),
	('b2:b9274e2d3cba530bc6a2f43f6307d20d', 'b2:0e155eb623a2601cb525c218c1229168', 'assistant', NULL),
	('b2:39d0ded22c2a1dcaf049c80f3ad53a21', 'b2:074dea0bd0259e0d5dca16426a45e4f5', 'user', NULL),
	('b2:794a4dd222c4cd00ede47d64ea7ab71d', 'b2:39d0ded22c2a1dcaf049c80f3ad53a21', 'assistant', NULL),
	('b2:bc94b41071de3649da22bef3dfacf44d', 'b2:794a4dd222c4cd00ede47d64ea7ab71d', 'tool', NULL),
	('b2:3f0de78f443bc3a05879dca13e6a5ea4', 'b2:bc94b41071de3649da22bef3dfacf44d', 'user', NULL),
	('b2:d464e1b17d3f602aadb1e47a9ac00190', 'b2:3f0de78f443bc3a05879dca13e6a5ea4', 'assistant', NULL),
	('b2:e33fe79b16030b026b36dac898b35ad3', 'b2:d464e1b17d3f602aadb1e47a9ac00190', 'user', NULL),
	('b2:041120407ca41531360c912eeed26bef', 'b2:e33fe79b16030b026b36dac898b35ad3', 'assistant', NULL),
	('b2:04634b9f4b5e5c4992a18bbc897b85bd', 'b2:794a4dd222c4cd00ede47d64ea7ab71d', 'user', NULL),
	('b2:8b7502fbb575ef5d61881cb524532bce', 'b2:04634b9f4b5e5c4992a18bbc897b85bd', 'assistant', NULL);
INSERT INTO "parts" VALUES
	(1, 'b2:074dea0bd0259e0d5dca16426a45e4f5', 0, 'text', NULL, 'Be brief.', NULL),
	(2, 'b2:5075c9e50e3d7ee6ef935bf7ff19f6f8', 0, 'text', NULL, 'A long text about wrens.
It has two lines.

Which bird? use picture', NULL),
	(3, 'b2:d89bf786f79099ed2a4a7d1667c19169', 0, 'text', NULL, 'I look.', NULL),
	(4, 'b2:d89bf786f79099ed2a4a7d1667c19169', 1, 'tool_call', 'look', NULL, '{"name": "look", "arguments": {"at": "tree"}, "tool_call_id": "call_0"}'),
	(5, 'b2:d89bf786f79099ed2a4a7d1667c19169', 2, 'tool_call', 'look', NULL, '{"name": "look", "arguments": {"at": "dark"}, "tool_call_id": "call_1"}'),
	(6, 'b2:d89bf786f79099ed2a4a7d1667c19169', 3, 'tool_call', 'picture', NULL, '{"name": "picture", "arguments": {}, "tool_call_id": "call_9"}'),
	(7, 'b2:2f00945b70ea2b4247c210cab85ce15a', 0, 'tool_result', 'look', NULL, '{"name": "look", "output": "I see tree", "tool_call_id": "call_0"}'),
	(8, 'b2:2f00945b70ea2b4247c210cab85ce15a', 1, 'tool_result', 'look', NULL, '{"name": "look", "output": "Error: it is dark", "tool_call_id": "call_1"}'),
	(9, 'b2:2f00945b70ea2b4247c210cab85ce15a', 2, 'tool_result', 'picture', NULL, '{"name": "picture", "output": "Here it is", "tool_call_id": "call_9"}'),
	(10, 'b2:ab5b72f1f3bce8ba62470cc1aa0c0c5d', 0, 'text', NULL, 'Found: I see tree; Error: it is dark; Here it is', NULL),
	(11, 'b2:3d7c57db62f81a310a60170598ad9414', 0, 'text', NULL, 'And then?', NULL),
	(12, 'b2:3fa06c09154463a0b93b5df6fdbc9948', 0, 'text', NULL, 'Echo of And then?', NULL),
	(13, 'b2:48f7c85e315efeb81046afeec8140a44', 0, 'text', NULL, 'After the update', NULL),
	(14, 'b2:12a7dd0b691921b2081459f14e675391', 0, 'text', NULL, 'Echo of After the update', NULL),
	(15, 'b2:e29fc39bb4c19082b203313836e5740b', 0, 'text', NULL, 'Which birds sing?', NULL),
	(16, 'b2:473ea0f3dbc3c80db8d65cf5f24b3a70', 0, 'text', NULL, 'Echo of Which birds sing?', NULL),
	(17, 'b2:bfc62210da83c1b05aaed5c27da34231', 0, 'text', NULL, 'And at noon?', NULL),
	(18, 'b2:f7db55196c38471c5e7432b05f4597e1', 0, 'text', NULL, 'Echo of And at noon?', NULL),
	(19, 'b2:0e155eb623a2601cb525c218c1229168', 0, 'text', NULL, 'After the update, birds', NULL),
	(20, 'b2:b9274e2d3cba530bc6a2f43f6307d20d', 0, 'text', NULL, 'Echo of After the update, birds', NULL),
	(21, 'b2:39d0ded22c2a1dcaf049c80f3ad53a21', 0, 'text', NULL, NULL, '{"text_ref": [{"fragment": 1}, {"literal": "\nWhich fish? think use picture"}]}'),
	(22, 'b2:39d0ded22c2a1dcaf049c80f3ad53a21', 1, 'attachment', NULL, NULL, '{"attachment": {"id": "5e20daa2cbd0901d6d8445e70f822c09a9dc7f8d3b9328eb1485942ac1001515"}}'),
	(23, 'b2:794a4dd222c4cd00ede47d64ea7ab71d', 0, 'reasoning', NULL, 'A tool knows.', '{"provider_metadata": {"echo": {"signature": "sig"}}}'),
	(24, 'b2:794a4dd222c4cd00ede47d64ea7ab71d', 1, 'text', NULL, 'I look.', NULL),
	(25, 'b2:794a4dd222c4cd00ede47d64ea7ab71d', 2, 'tool_call', 'look', NULL, '{"name": "look", "arguments": {"at": "tree"}, "tool_call_id": "call_0"}'),
	(26, 'b2:794a4dd222c4cd00ede47d64ea7ab71d', 3, 'tool_call', 'look', NULL, '{"name": "look", "arguments": {"at": "dark"}, "tool_call_id": "call_1"}'),
	(27, 'b2:794a4dd222c4cd00ede47d64ea7ab71d', 4, 'tool_call', 'picture', NULL, '{"name": "picture", "arguments": {}, "tool_call_id": "call_9"}'),
	(28, 'b2:bc94b41071de3649da22bef3dfacf44d', 0, 'tool_result', 'look', NULL, '{"name": "look", "output": "I see tree", "tool_call_id": "call_0"}'),
	(29, 'b2:bc94b41071de3649da22bef3dfacf44d', 1, 'tool_result', 'look', NULL, '{"name": "look", "output": "Error: it is dark", "tool_call_id": "call_1", "exception": "ValueError: it is dark"}'),
	(30, 'b2:bc94b41071de3649da22bef3dfacf44d', 2, 'tool_result', 'picture', NULL, '{"name": "picture", "output": "Here it is", "tool_call_id": "call_9"}'),
	(31, 'b2:3f0de78f443bc3a05879dca13e6a5ea4', 0, 'attachment', NULL, NULL, '{"attachment": {"id": "b1ff9c8ea3a780bad09b346c423d2d0e46815926879b18e841d928376a946640"}}'),
	(32, 'b2:d464e1b17d3f602aadb1e47a9ac00190', 0, 'text', NULL, 'Found: I see tree; Error: it is dark; Here it is', NULL),
	(33, 'b2:e33fe79b16030b026b36dac898b35ad3', 0, 'text', NULL, 'server think: And then?', NULL),
	(34, 'b2:041120407ca41531360c912eeed26bef', 0, 'reasoning', NULL, 'A tool knows.', '{"provider_metadata": {"echo": {"signature": "sig"}}}'),
	(35, 'b2:041120407ca41531360c912eeed26bef', 1, 'text', NULL, 'I search.', NULL),
	(36, 'b2:041120407ca41531360c912eeed26bef', 2, 'tool_call', 'search', NULL, '{"name": "search", "arguments": {"q": "wren"}, "tool_call_id": "ws_1", "server_executed": true}'),
	(37, 'b2:041120407ca41531360c912eeed26bef', 3, 'tool_result', 'search', NULL, '{"name": "search", "output": "Found it", "tool_call_id": "ws_1", "server_executed": true}'),
	(38, 'b2:041120407ca41531360c912eeed26bef', 4, 'text', NULL, 'Echo of server think: And then?', NULL),
	(39, 'b2:04634b9f4b5e5c4992a18bbc897b85bd', 0, 'text', NULL, 'And in winter?', NULL),
	(40, 'b2:8b7502fbb575ef5d61881cb524532bce', 0, 'text', NULL, 'Echo of ', NULL);
INSERT INTO "part_attachments" VALUES
	(22, '5e20daa2cbd0901d6d8445e70f822c09a9dc7f8d3b9328eb1485942ac1001515', 0),
	(31, 'b1ff9c8ea3a780bad09b346c423d2d0e46815926879b18e841d928376a946640', 0);
INSERT INTO "part_fragments" VALUES
	(21, 1, 0);
INSERT INTO "threads" VALUES
	('01m8kqn9g8ep71awj49hbj64vx', 'After the update', 'b2:12a7dd0b691921b2081459f14e675391', NULL, '2026-11-29 13:24:41.716787+00:00'),
	('01m8kqn6jppd6whmzf6evnn9w6', 'After the update, birds', 'b2:b9274e2d3cba530bc6a2f43f6307d20d', NULL, '2026-11-29 13:24:42.996735+00:00'),
	('01m8kqnf17mdqan182z5fe7qhm', 'A long text about wrens. It has…', 'b2:041120407ca41531360c912eeed26bef', NULL, '2026-11-29 13:24:44.717039+00:00'),
	('01m8kqngqn4w149y2hpnneqs8d', 'Forked', 'b2:8b7502fbb575ef5d61881cb524532bce', '01m8kqnf17mdqan182z5fe7qhm', '2026-11-29 13:24:46.453921+00:00');
INSERT INTO "turns" VALUES
	('01m8kqnc3edgyqq1k5tvsjwy26', '01m8kqn9g8ep71awj49hbj64vx', 'b2:48f7c85e315efeb81046afeec8140a44', 'b2:12a7dd0b691921b2081459f14e675391', 'echo', 'echo-2026', '{}', NULL, 3, 4, NULL, 4, '2026-11-29T13:24:41.710801+00:00', '{"id": "resp_1"}'),
	('01m8kqndbkpdcfffj1e40szry4', '01m8kqn6jppd6whmzf6evnn9w6', 'b2:0e155eb623a2601cb525c218c1229168', 'b2:b9274e2d3cba530bc6a2f43f6307d20d', 'echo', 'echo-2026', '{}', NULL, 3, 4, NULL, 0, '2026-11-29T13:24:42.995521+00:00', '{"id": "resp_1"}'),
	('01m8kqnf1a64q36cdx5cs94b1q', '01m8kqnf17mdqan182z5fe7qhm', 'b2:39d0ded22c2a1dcaf049c80f3ad53a21', 'b2:794a4dd222c4cd00ede47d64ea7ab71d', 'echo', 'echo-2026', '{"temperature": 0.5}', NULL, 3, 4, NULL, 0, '2026-11-29T13:24:44.714924+00:00', '{"id": "resp_1"}'),
	('01m8kqnf1bn37rgqtat6dcebmb', '01m8kqnf17mdqan182z5fe7qhm', 'b2:3f0de78f443bc3a05879dca13e6a5ea4', 'b2:d464e1b17d3f602aadb1e47a9ac00190', 'echo', 'echo-2026', '{"temperature": 0.5}', NULL, 3, 4, NULL, 0, '2026-11-29T13:24:44.715905+00:00', '{"id": "resp_1"}'),
	('01m8kqnfvgbtefz11v7g0135c3', '01m8kqnf17mdqan182z5fe7qhm', 'b2:e33fe79b16030b026b36dac898b35ad3', 'b2:041120407ca41531360c912eeed26bef', 'echo', 'echo-2026', '{}', NULL, 3, 4, NULL, 0, '2026-11-29T13:24:45.552901+00:00', '{"id": "resp_1"}'),
	('01m8kqnhbtt2t96mvbsb026te6', '01m8kqngqn4w149y2hpnneqs8d', 'b2:04634b9f4b5e5c4992a18bbc897b85bd', 'b2:8b7502fbb575ef5d61881cb524532bce', 'echo', 'echo-2026', '{}', NULL, 3, 4, NULL, 0, '2026-11-29T13:24:47.098300+00:00', '{"id": "resp_1"}');
INSERT INTO "turn_fragments" VALUES
	('01m8kqnf1a64q36cdx5cs94b1q', 1, 0, 'prompt');
INSERT INTO "turn_tools" VALUES
	('01m8kqnc3edgyqq1k5tvsjwy26', 1, NULL),
	('01m8kqnc3edgyqq1k5tvsjwy26', 2, NULL),
	('01m8kqnf1a64q36cdx5cs94b1q', 1, NULL),
	('01m8kqnf1a64q36cdx5cs94b1q', 2, NULL),
	('01m8kqnf1bn37rgqtat6dcebmb', 1, NULL),
	('01m8kqnf1bn37rgqtat6dcebmb', 2, NULL),
	('01m8kqnfvgbtefz11v7g0135c3', 1, NULL),
	('01m8kqnfvgbtefz11v7g0135c3', 2, NULL);
