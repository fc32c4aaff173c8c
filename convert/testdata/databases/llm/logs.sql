-- log04.sql after llm/migrations.py at f3f4f29; only the tables that matter.
CREATE TABLE "logs" (
   [id] INTEGER PRIMARY KEY,
   [model] TEXT,
   [prompt] TEXT,
   [system] TEXT,
   [prompt_json] TEXT,
   [options_json] TEXT,
   [response] TEXT,
   [response_json] TEXT,
   [reply_to_id] INTEGER REFERENCES [logs]([id]),
   [chat_id] INTEGER,
   [duration_ms] INTEGER,
   [datetime_utc] TEXT
);
CREATE TABLE [conversations] (
   [id] TEXT PRIMARY KEY,
   [name] TEXT,
   [model] TEXT
);
CREATE TABLE [schemas] (
   [id] TEXT PRIMARY KEY,
   [content] TEXT
);
CREATE TABLE "responses" (
   [id] TEXT PRIMARY KEY,
   [model] TEXT,
   [prompt] TEXT,
   [system] TEXT,
   [prompt_json] TEXT,
   [options_json] TEXT,
   [response] TEXT,
   [response_json] TEXT,
   [conversation_id] TEXT REFERENCES [conversations]([id]),
   [duration_ms] INTEGER,
   [datetime_utc] TEXT,
   [input_tokens] INTEGER,
   [output_tokens] INTEGER,
   [token_details] TEXT,
   [schema_id] TEXT REFERENCES [schemas]([id])
, [resolved_model] TEXT, [reasoning] TEXT);
INSERT INTO "logs" VALUES(1,'gpt-3.5-turbo','Name a bird.',NULL,NULL,NULL,'A wren.',NULL,NULL,NULL,NULL,'2023-05-20 09:00:00.000123');
INSERT INTO "logs" VALUES(2,'gpt-3.5-turbo','And a fish?','Be brief.',NULL,NULL,'A carp.',NULL,NULL,NULL,NULL,'2023-05-20 09:05:00.000456');
INSERT INTO "logs" VALUES(3,'gpt-4','Which birds sing at night?','Be brief.',NULL,NULL,'Nightingales.',NULL,NULL,NULL,NULL,'2023-06-20 08:00:00.000001');
INSERT INTO "logs" VALUES(4,'gpt-4','Which tree is tall?',NULL,NULL,NULL,'A redwood.',NULL,NULL,NULL,NULL,'2023-06-20 08:10:00');
INSERT INTO "logs" VALUES(5,'gpt-4','And at noon?','Be brief.',NULL,NULL,'None.',NULL,NULL,3,NULL,'2023-06-20 08:20:00.500000');
INSERT INTO "logs" VALUES(6,'gpt-3.5-turbo','Thanks.','Be kind.',NULL,NULL,'You are welcome.',NULL,NULL,3,NULL,'2023-06-20 08:30:00.250000');
