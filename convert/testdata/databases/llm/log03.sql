-- Made by the function log of llm/cli.py at 0.3.
CREATE TABLE [log] (
   [provider] TEXT,
   [system] TEXT,
   [prompt] TEXT,
   [response] TEXT,
   [model] TEXT,
   [timestamp] TEXT
);
INSERT INTO "log" VALUES('chatgpt',NULL,'Name a bird.','A wren.','gpt-3.5-turbo','2023-05-20 09:00:00.000123');
INSERT INTO "log" VALUES('chatgpt','Be brief.','And a fish?','A carp.','gpt-3.5-turbo','2023-05-20 09:05:00.000456');
