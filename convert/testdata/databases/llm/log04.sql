-- log03.sql after llm/migrations.py and the function log of llm/cli.py at 0.4.1.
CREATE TABLE [_llm_migrations] (
   [name] TEXT PRIMARY KEY,
   [applied_at] TEXT
);
CREATE TABLE "log" (
   [id] INTEGER PRIMARY KEY,
   [model] TEXT,
   [timestamp] TEXT,
   [prompt] TEXT,
   [system] TEXT,
   [response] TEXT,
   [chat_id] INTEGER REFERENCES [log]([id])
, [debug] TEXT, [duration_ms] INTEGER);
INSERT INTO "log" VALUES(1,'gpt-3.5-turbo','2023-05-20 09:00:00.000123','Name a bird.',NULL,'A wren.',NULL,NULL,NULL);
INSERT INTO "log" VALUES(2,'gpt-3.5-turbo','2023-05-20 09:05:00.000456','And a fish?','Be brief.','A carp.',NULL,NULL,NULL);
INSERT INTO "log" VALUES(3,'gpt-4','2023-06-20 08:00:00.000001','Which birds sing at night?','Be brief.','Nightingales.',NULL,'{"model":"gpt-4-0613","usage":{}}',NULL);
INSERT INTO "log" VALUES(4,'gpt-4','2023-06-20 08:10:00','Which tree is tall?',NULL,'A redwood.',NULL,NULL,NULL);
INSERT INTO "log" VALUES(5,'gpt-4','2023-06-20 08:20:00.500000','And at noon?','Be brief.','None.',3,NULL,NULL);
INSERT INTO "log" VALUES(6,'gpt-3.5-turbo','2023-06-20 08:30:00.250000','Thanks.','Be kind.','You are welcome.',3,NULL,NULL);
