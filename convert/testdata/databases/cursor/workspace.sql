-- Made by hand after the sources in the doc of the package: no database of Cursor was at hand.
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('composer.composerData', '{"allComposers":[{"composerId":"bbbb0001","name":"Trees","createdAt":1730000000000,"conversation":[{"type":1,"bubbleId":"e1","text":"Which trees?"},{"type":2,"bubbleId":"e2","text":"An oak."}]},{"composerId":"aaaa0001","createdAt":1766691308486}]}');
INSERT INTO ItemTable VALUES ('workbench.panel.aichat.view.aichat.chatdata', '{"tabs":[{"tabId":"tab1","chatTitle":"Retries","bubbles":[{"type":"user","text":"How do I retry?"},{"type":"ai","text":"With a pause."}]},{"tabId":"tab2","bubbles":[]}]}');
