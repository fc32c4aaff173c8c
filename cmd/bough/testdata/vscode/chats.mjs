// Reads chats as VS Code does, with its own modules, and prints what it has of each: a line of
// JSON for each file. A chat is read from the list in a database, which the file index.json
// beside it has, by the store of chats.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const api = '@codingame/monaco-vscode-api/vscode/vs/';
const chat = './node_modules/@codingame/monaco-vscode-chat-service-override/vscode/src/vs/workbench/contrib/chat/common/model/';
const entry = `
export { ChatModel, isExportableSessionData } from '${api}workbench/contrib/chat/common/model/chatModel';
export { VSBuffer } from '${api}base/common/buffer';
export { URI } from '${api}base/common/uri';
export { ChatSessionStore } from '${chat}chatSessionStore.js';
`;
const empty = Object.fromEntries(['.css', '.svg', '.png', '.ttf', '.wasm', '.mp3', '.html'].map(e => [e, 'empty']));
const bundle = await build({
  stdin: { contents: entry, resolveDir: import.meta.dirname }, bundle: true, platform: 'node', format: 'esm', write: false, loader: empty, logLevel: 'error',
});
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'bough-vscode-'));
const file = path.join(dir, 'vscode.mjs');
fs.writeFileSync(file, bundle.outputFiles[0].contents);
const vs = await import(pathToFileURL(file));
fs.rmSync(dir, { recursive: true });

let complaints = [];
const nothing = new Proxy({}, { get: (_, name) => typeof name === 'string' && name.startsWith('on') ? () => ({ dispose() {} }) : () => undefined });
const complain = (...said) => { if (!/Error reading log/.test(said[0])) complaints.push(said.join(' ')); };
const log = { info() {}, trace() {}, debug() {}, warn: complain, error: complain, getLevel: () => 3 };

for (const storage of process.argv.slice(2)) {
  complaints = [];
  const index = fs.readFileSync(path.join(storage, 'index.json'), 'utf8');
  const store = new vs.ChatSessionStore(
    { readFile: async uri => ({ value: vs.VSBuffer.wrap(fs.readFileSync(uri.fsPath)) }) },
    { workspaceStorageHome: vs.URI.file(path.dirname(storage)) }, log,
    { getWorkspace: () => ({ id: path.basename(storage), folders: [{}] }) }, nothing,
    { get: key => key === 'chat.ChatSessionStore.index' ? index : undefined }, nothing,
    { defaultProfile: { globalStorageHome: vs.URI.file(storage) } }, nothing, nothing, nothing, nothing);
  const chats = [];
  for (const [id, listed] of Object.entries(await store.getIndex())) {
    const data = await store.readSession(id);
    const model = new vs.ChatModel(data, { initialLocation: 'panel', canUseTools: true, disableBackgroundKeepAlive: true }, log, nothing, nothing, nothing);
    chats.push({
      id, title: listed.title, same: model.sessionId === id, importable: vs.isExportableSessionData(data?.value),
      requests: model.getRequests().map(r => ({
        prompt: r.message.text,
        answer: r.response?.response.getMarkdown() ?? '',
        thinking: r.response?.entireResponse.value.filter(p => p.kind === 'thinking').map(p => p.value).join('') ?? '',
        tools: r.response?.entireResponse.value.filter(p => p.kind === 'toolInvocationSerialized').map(p => p.toolId) ?? [],
        images: r.variableData.variables.filter(v => v.kind === 'image' && v.value instanceof Uint8Array).length,
      })),
    });
  }
  console.log(JSON.stringify({ chats, complaints }));
}
