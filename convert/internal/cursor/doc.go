// Package cursor reads the conversations of Cursor: in the databases of the editor, in the stores of its
// command line, and in the transcripts that these and its SDK write.
//
// # The editor
//
// The databases are state.vscdb: one below User/globalStorage, and one for each folder below
// User/workspaceStorage, beside its workspace.json. The tables ItemTable and cursorDiskKV have a
// column key and a column value with JSON, as a text or as bytes.
//
// A conversation is the value of composerData:ID in cursorDiskKV: composerId, name (its title),
// createdAt (milliseconds), status, modelConfig.modelName ("default" if Cursor chooses the model),
// workspaceIdentifier.uri.fsPath (the folder). Its messages are bubbles. fullConversationHeadersOnly lists their ids in the order of
// the conversation; a bubble is the value of bubbleId:ID:BUBBLE. Older versions have the
// bubbles themselves in the array conversation, or by their ids in conversationMap. Bubbles that a
// conversation does not list are no longer part of it, and are not read. A conversation
// without bubbles is a draft, and is not read.
//
// A bubble has a type (1 is the user, 2 the assistant), bubbleId, createdAt (RFC 3339, or
// milliseconds), text, thinking (an object with text and signature, or a string), modelInfo.modelName
// and context.fileSelections (the files that the user attached, each with a uri). An assistant's bubble
// with toolFormerData is a call: name, toolCallId, rawArgs (the arguments of the model) and
// params (those that Cursor made of them), both JSON in a string, result (a string), error,
// userDecision (accepted or rejected), and status: loading, completed, cancelled or error. Code
// blocks are in the text too. While an answer is received (status is generating), calls in parallel end in
// any order; the bubbles after one that has not ended are read when it has. The shape of images is in none of the sources: they are parts of
// unknown type.
//
// A conversation of a sub-agent has subagentInfo.parentComposerId and subagentInfo.toolCallId, in
// the column value of the table composerHeaders, whose other members are as in composerData.
//
// In ItemTable of a workspace, older versions have two values with conversations:
// composer.composerData, whose allComposers are conversations, now without their bubbles, and
// workbench.panel.aichat.view.aichat.chatdata, whose tabs have tabId, chatTitle and bubbles of type user or
// ai with a text. Its prompts (aiService.prompts) name no conversation, and are not read; nor is any
// other key, because some have the tokens of accounts.
//
// composerData also has keys that decrypt data on servers of Cursor (blobEncryptionKey,
// speculativeSummarizationEncryptionKey). They are left out of the record.
//
// # The command line
//
// Each conversation has a database chats/FOLDER/ID/store.db in ~/.cursor or $CURSOR_CONFIG_DIR, where
// FOLDER is a hash of the folder; newer versions also write a meta.json beside it, with the folder (cwd).
// The table meta (key, value) has the hexadecimal JSON of the conversation in the key 0: agentId, name
// ("New Agent" if there is none), createdAt (milliseconds, a number or its digits), lastUsedModel (or
// "default"), latestRootBlobId, and subagentInfo with parentAgentId and toolCallId. The call is not read: bough
// keeps it with the conversation that makes it, which is in another store. The table meta is empty until
// something is said. The table blobs (id, data) has everything else, by its SHA-256. The root is a message of Protocol Buffers
// whose field 1 has the ids of the messages, in their order.
//
// A message is JSON in the form of the AI SDK's ModelMessage: a role (system, user, assistant or tool), and
// content, a text or parts: text, reasoning (text and signature), redacted-reasoning (data), tool-call (toolCallId,
// toolName, args) and tool-result (toolCallId, toolName, result, experimental_content). Cursor's own
// members are in providerOptions.cursor: of a prompt, requestId; of a summary that replaces what is before it,
// isSummary; of a result, highLevelToolCallResult.isError; and of a part of an answer, modelName. A
// message has neither an id nor a time of its own: two with the same text are the same blob.
//
// What a user asked is in <user_query>, after a <timestamp>, or is the whole text. Other texts beside a
// <user_query> are context of the program. So is a message with the role user that has neither a requestId nor
// a <user_query>, if it has <user_info> (with a line "Workspace Path: "), or if an earlier message has a
// requestId: then it is a reminder, or says that the user interrupted. Versions before that have no
// requestId.
//
// Two other things in a store are not read. The turns (field 8 of the root) have times; HarnessTrajectory
// assigns them to messages by the ids of requests and calls and, where there are none, by their
// order. Earlier roots list the messages that a summary replaced.
//
// # Transcripts
//
// The editor, the command line and the SDK also write
// ~/.cursor/projects/PROJECT/agent-transcripts/ID/ID.jsonl (or ID.jsonl), and those of sub-agents in
// ID/subagents/CHILD.jsonl: a line per message, with a role and message.content, whose parts are text,
// tool_use (name, input) and sometimes thinking. They have no results, and no ids; times are only in the
// <timestamp> of prompts.
//
// ID is that of the conversation in a database, which has all of this and more; so a transcript has an id of its
// own, and is skipped if the conversation is imported from a database. An ID that begins with
// "agent-" is of the SDK, whose database (sdk-agent-store) has no messages that a source names.
//
// Transcripts of older versions, ID.txt, are not read: the programs that read them do not agree how the
// arguments of a call are written, and where the text of the assistant continues after it.
//
// # Sources
//
// There is no specification.
//   - The editor: michaeldhood/chatrxiv, docs/cursor/storage-reference.md (d28513a, December 2025),
//     pppp606/cursor-efficiency, docs/vscdbRelation.md (0b7ee3c, Cursor 0.50.5), S2thend/cursor-history,
//     src/core/storage.ts (033425e), jverre/agents-for-cursor, docs/cursor-tool-bubble-format.md (1870f88,
//     calls), and centauri-ai/coslash, docs/cursor-session-field-sources.md (82df8bc, sub-agents).
//   - The command line: chenhg5/tape, internal/source/cursor/cursor.go (76b427e),
//     specstoryai/getspecstory, specstory-cli/pkg/providers/cursorcli/sqlite_reader.go (06b088d),
//     Demogorgon314/HarnessTrajectory, packages/core/src/adapters, cursor-protocol.ts and cursor.ts (cd345fc, Cursor's
//     members, what is context, times; it reads stores of September 2026), leapmux/leapmux,
//     backend/internal/worker/agent/cursor_tool_store_test.go (9dc1af5, a result), stablyai/orca,
//     src/main/ai-vault/session-scanner-cursor-metadata.ts (372b2d4, meta.json), and coslash's document.
//   - Transcripts: coslash's document (also the SDK), kenn-io/agentsview, internal/parser/cursor.go (109ae21) and its issue
//     1627 (sub-agents, timestamps), and the fixtures in agitHQ/agit, fixtures/cursor (b297242), and
//     AgentWorkforce/relayhistory, crates/ai-hist/tests/fixtures/cursor (c2e56e4).
package cursor
