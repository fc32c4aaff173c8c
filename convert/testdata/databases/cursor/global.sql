-- Made by hand after the sources in the doc of the package: no database of Cursor was at hand.
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, value TEXT);
INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', 'not to be read');
INSERT INTO cursorDiskKV VALUES ('composerData:aaaa0001', '{"_v":10,"composerId":"aaaa0001","name":"Birds","status":"completed","createdAt":1766691308486,"modelConfig":{"modelName":"model-1","maxMode":true},"workspaceIdentifier":{"id":"w","uri":{"scheme":"file","fsPath":"/home/ada/birds","path":"/home/ada/birds"}},"blobEncryptionKey":"key-of-a-blob","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2},{"bubbleId":"b3","type":2},{"bubbleId":"b4","type":2},{"bubbleId":"b5","type":2},{"bubbleId":"b6","type":2}]}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:aaaa0001:b1', '{"_v":3,"type":1,"bubbleId":"b1","text":"Which birds?","createdAt":"2025-12-25T19:35:09.000Z","images":[{"uuid":"i1"}],"context":{"fileSelections":[{"uri":{"fsPath":"/home/ada/birds/list.md"}}]}}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:aaaa0001:b2', CAST('{"_v":3,"type":2,"bubbleId":"b2","text":"","thinking":{"text":"Hm.","signature":"s1"},"createdAt":"2025-12-25T19:35:10.000Z"}' AS BLOB));
INSERT INTO cursorDiskKV VALUES ('bubbleId:aaaa0001:b3', '{"_v":3,"type":2,"bubbleId":"b3","text":"I look.","capabilityType":15,"createdAt":"2025-12-25T19:35:11.000Z","toolFormerData":{"tool":40,"toolCallId":"c1","status":"completed","name":"read_file","rawArgs":"{\"target_file\":\"list.md\"}","params":"{\"targetFile\":\"/home/ada/birds/list.md\"}","result":"{\"contents\":\"wren\"}"}}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:aaaa0001:b4', '{"_v":3,"type":2,"bubbleId":"b4","text":"","capabilityType":15,"createdAt":"2025-12-25T19:35:12.000Z","toolFormerData":{"tool":15,"toolCallId":"c2","status":"cancelled","name":"run_terminal_cmd","rawArgs":"","params":"{\"command\":\"rm list.md\"}","userDecision":"rejected"}}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:aaaa0001:b5', '{"_v":3,"type":2,"bubbleId":"b5","text":"","capabilityType":22}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:aaaa0001:b6', '{"_v":3,"type":2,"bubbleId":"b6","text":"A wren.","createdAt":"2025-12-25T19:35:13.000Z","modelInfo":{"modelName":"model-2"}}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:aaaa0001:gone', '{"_v":3,"type":1,"bubbleId":"gone","text":"no longer in the conversation"}');
INSERT INTO cursorDiskKV VALUES ('composerData:aaaa0002', '{"composerId":"aaaa0002","createdAt":1766691309486,"status":"generating","conversation":[{"type":1,"bubbleId":"d1","text":"And mammals?"},{"type":2,"bubbleId":"d2","text":"A vo","toolFormerData":{"name":"grep","toolCallId":"c3","status":"loading","params":"{\"pattern\":\"vole\"}"}}]}');
INSERT INTO composerHeaders VALUES ('aaaa0002', '{"name":"Mammals","subagentInfo":{"parentComposerId":"aaaa0001","toolCallId":"c1"}}');
INSERT INTO cursorDiskKV VALUES ('composerData:aaaa0003', '{"composerId":"aaaa0003","text":"a draft","fullConversationHeadersOnly":[],"conversationMap":{}}');
INSERT INTO cursorDiskKV VALUES ('composerData:aaaa0004', 'null');
