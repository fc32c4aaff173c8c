-- From the database that opencode 1.18.33 made when it imported two sessions; only the tables of conversations.
CREATE TABLE `session` (
  `id` text PRIMARY KEY,
  `project_id` text NOT NULL,
  `workspace_id` text,
  `parent_id` text,
  `slug` text NOT NULL,
  `directory` text NOT NULL,
  `path` text,
  `title` text NOT NULL,
  `version` text NOT NULL,
  `share_url` text,
  `summary_additions` integer,
  `summary_deletions` integer,
  `summary_files` integer,
  `summary_diffs` text,
  `metadata` text,
  `cost` real DEFAULT 0 NOT NULL,
  `tokens_input` integer DEFAULT 0 NOT NULL,
  `tokens_output` integer DEFAULT 0 NOT NULL,
  `tokens_reasoning` integer DEFAULT 0 NOT NULL,
  `tokens_cache_read` integer DEFAULT 0 NOT NULL,
  `tokens_cache_write` integer DEFAULT 0 NOT NULL,
  `revert` text,
  `permission` text,
  `agent` text,
  `model` text,
  `time_created` integer NOT NULL,
  `time_updated` integer NOT NULL,
  `time_compacting` integer,
  `time_archived` integer,
  CONSTRAINT `fk_session_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
);
CREATE INDEX `session_project_idx` ON `session` (`project_id`);
CREATE INDEX `session_workspace_idx` ON `session` (`workspace_id`);
CREATE INDEX `session_parent_idx` ON `session` (`parent_id`);
INSERT INTO `session` VALUES ('ses_0123456789abABCDEFGHIJKLMN', 'global', NULL, NULL, 'birds', '/home/ada/birds', 'home/ada/birds', 'Birds', '1.18.33', NULL, NULL, NULL, NULL, NULL, NULL, 0.0, 0, 0, 0, 0, 0, '{"messageID":"msg_04"}', NULL, NULL, NULL, 1769940000000, 1769940009000, NULL, NULL);
INSERT INTO `session` VALUES ('ses_0123456789abBCDEFGHIJKLMNO', 'global', NULL, 'ses_0123456789abABCDEFGHIJKLMN', 'wrens', '/home/ada/birds', 'home/ada/birds', 'Wrens <and> é 🐦', '1.18.33', 'https://example.com/s/1', 3, 1, 1, '[]', NULL, 1.2e-06, 0, 0, 0, 0, 0, NULL, NULL, 'explore', '{"id":"m-1","providerID":"p","variant":"high"}', 1769940002050, 1769940002090, NULL, 1769940009999);
CREATE TABLE `message` (
  `id` text PRIMARY KEY,
  `session_id` text NOT NULL,
  `time_created` integer NOT NULL,
  `time_updated` integer NOT NULL,
  `data` text NOT NULL,
  CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
);
CREATE INDEX `message_session_time_created_id_idx` ON `message` (`session_id`,`time_created`,`id`);
INSERT INTO `message` VALUES ('msg_01', 'ses_0123456789abABCDEFGHIJKLMN', 1769940001000, 1795936828249, '{"role":"user","time":{"created":1769940001000},"agent":"plan","model":{"providerID":"p","modelID":"m-1"}}');
INSERT INTO `message` VALUES ('msg_02', 'ses_0123456789abABCDEFGHIJKLMN', 1769940002000, 1795936828252, '{"role":"assistant","time":{"created":1769940002000,"completed":1769940003000},"parentID":"msg_01","modelID":"m-1","providerID":"p","mode":"plan","agent":"plan","path":{"cwd":"/","root":"/"},"cost":0.1,"tokens":{"input":1,"output":1,"reasoning":0,"cache":{"read":0,"write":0}}}');
INSERT INTO `message` VALUES ('msg_04', 'ses_0123456789abABCDEFGHIJKLMN', 1769940004000, 1795936828256, '{"role":"user","time":{"created":1769940004000},"agent":"plan","model":{"providerID":"p","modelID":"m-1"}}');
INSERT INTO `message` VALUES ('msg_05', 'ses_0123456789abABCDEFGHIJKLMN', 1769940005000, 1795936828257, '{"role":"assistant","time":{"created":1769940005000},"parentID":"msg_04","modelID":"m-2","providerID":"p","mode":"plan","agent":"plan","path":{"cwd":"/","root":"/"},"summary":true,"cost":0,"tokens":{"input":1,"output":1,"reasoning":0,"cache":{"read":0,"write":0}}}');
INSERT INTO `message` VALUES ('msg_11', 'ses_0123456789abBCDEFGHIJKLMNO', 1769940002060, 1795939124586, '{"role":"user","time":{"created":1769940002060},"agent":"explore","model":{"providerID":"p","modelID":"m-1"}}');
INSERT INTO `message` VALUES ('msg_12', 'ses_0123456789abBCDEFGHIJKLMNO', 1769940002070, 1795939124599, '{"role":"assistant","time":{"created":1769940002070,"completed":1769940002080},"parentID":"msg_11","modelID":"m-1","providerID":"p","mode":"explore","agent":"explore","path":{"cwd":"/","root":"/"},"cost":0,"tokens":{"input":1,"output":1,"reasoning":0,"cache":{"read":0,"write":0}}}');
CREATE TABLE `part` (
  `id` text PRIMARY KEY,
  `message_id` text NOT NULL,
  `session_id` text NOT NULL,
  `time_created` integer NOT NULL,
  `time_updated` integer NOT NULL,
  `data` text NOT NULL,
  CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
);
CREATE INDEX `part_message_id_id_idx` ON `part` (`message_id`,`id`);
CREATE INDEX `part_session_idx` ON `part` (`session_id`);
INSERT INTO `part` VALUES ('prt_01', 'msg_01', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828249, 1795936828250, '{"type":"text","text":"Which birds?"}');
INSERT INTO `part` VALUES ('prt_02', 'msg_01', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828251, 1795936828251, '{"type":"file","mime":"image/png","filename":"bird.png","url":"data:image/png;base64,AAAA"}');
INSERT INTO `part` VALUES ('prt_03', 'msg_01', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828251, 1795936828251, '{"type":"text","text":"not for the model","ignored":true}');
INSERT INTO `part` VALUES ('prt_04', 'msg_02', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828252, 1795936828252, '{"type":"step-start"}');
INSERT INTO `part` VALUES ('prt_05', 'msg_02', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828252, 1795936828252, '{"type":"reasoning","text":"Hm.","time":{"start":1769940002000}}');
INSERT INTO `part` VALUES ('prt_06', 'msg_02', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828252, 1795936828252, '{"type":"text","text":"I look."}');
INSERT INTO `part` VALUES ('prt_07', 'msg_02', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828253, 1795936828253, '{"type":"tool","callID":"c1","tool":"read","state":{"status":"completed","input":{"a":12345678901234567000},"output":"wren","title":"","metadata":{},"time":{"start":1769940002100,"end":1769940002200}}}');
INSERT INTO `part` VALUES ('prt_08', 'msg_02', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828253, 1795936828253, '{"type":"tool","callID":"c2","tool":"read","state":{"status":"error","input":{},"error":"gone","time":{"start":1769940002100,"end":1769940002300}}}');
INSERT INTO `part` VALUES ('prt_09', 'msg_02', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828255, 1795936828255, '{"type":"step-finish","reason":"stop","cost":0,"tokens":{"input":1,"output":1,"reasoning":0,"cache":{"read":0,"write":0}}}');
INSERT INTO `part` VALUES ('prt_10', 'msg_02', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828256, 1795936828256, '{"type":"step-start"}');
INSERT INTO `part` VALUES ('prt_11', 'msg_02', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828256, 1795936828256, '{"type":"text","text":"A wren."}');
INSERT INTO `part` VALUES ('prt_12', 'msg_02', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828256, 1795936828256, '{"type":"patch","hash":"x","files":[]}');
INSERT INTO `part` VALUES ('prt_13', 'msg_04', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828257, 1795936828257, '{"type":"text","text":"And mammals?"}');
INSERT INTO `part` VALUES ('prt_14', 'msg_05', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828257, 1795936828257, '{"type":"text","text":"In short: birds."}');
INSERT INTO `part` VALUES ('prt_15', 'msg_05', 'ses_0123456789abABCDEFGHIJKLMN', 1795936828261, 1795936828261, '{"type":"tool","callID":"c3","tool":"read","state":{"status":"running","input":{},"time":{"start":1769940005000}}}');
INSERT INTO `part` VALUES ('prt_31', 'msg_11', 'ses_0123456789abBCDEFGHIJKLMNO', 1795939124598, 1795939124598, '{"type":"text","text":"Look for \"wrens\" & <b>."}');
INSERT INTO `part` VALUES ('prt_32', 'msg_12', 'ses_0123456789abBCDEFGHIJKLMNO', 1795939124600, 1795939124600, '{"type":"text","text":"None."}');
