// Drives a running 'bough serve' with Acontext's published SDK: the typed calls as a
// program makes them, and the SDK's own request for what its types do not know. The
// settings come from the environment variables that the SDK itself reads. Each check
// has a name; the first one that fails ends the run.
'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const { AcontextClient, APIError, FileUpload, AcontextMessage, MessagePart } = require('@acontext/acontext');

const client = new AcontextClient();
const { sessions } = client;
const unknown = '00000000-0000-4000-8000-00000000ffff';
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const checks = [];
const check = (name, run) => checks.push({ name, run });

// What the SDK's types omit.
const store = (session, text, more = {}) =>
  client.request('POST', `/session/${session}/messages`, {
    jsonData: { blob: { role: 'user', content: text }, ...more },
  });
const read = (session, params) => client.request('GET', `/session/${session}/messages`, { params });
const branches = async (session) => (await client.request('GET', `/session/${session}/branches`)).leaves;

// fails checks that a call fails with a status, and what a person is told.
async function fails(call, status, message) {
  await assert.rejects(call, (err) => {
    assert.ok(err instanceof APIError, `${err}`);
    assert.equal(err.statusCode, status, `${err}`);
    assert.equal(err.code, status);
    assert.equal(typeof err.payload.msg, 'string');
    if (message) assert.match(err.message, message);
    return true;
  });
}

// unchanged checks that a call which fails leaves a session as it is.
async function unchanged(session, call) {
  const before = await everything(session);
  await call();
  assert.deepEqual(await everything(session), before);
}
async function everything(session) {
  const leaves = await branches(session);
  const paths = [];
  for (const leaf of leaves) {
    paths.push((await read(session, { format: 'acontext', leaf_id: leaf.message_id })).ids);
  }
  return { leaves, paths };
}

check('ping', async () => assert.equal(await client.ping(), 'pong'));

check('create, list, configs, delete', async () => {
  const bare = await sessions.create();
  assert.match(bare.id, uuid);
  assert.equal(bare.configs, null);
  assert.equal(bare.space_id, null);
  assert.equal(bare.disable_task_tracking, false);
  const full = await sessions.create({ disableTaskTracking: true, configs: { mode: 'x', deep: { a: [1] } } });
  assert.equal(full.disable_task_tracking, true);
  assert.deepEqual(full.configs, { mode: 'x', deep: { a: [1] } });
  assert.equal(full.project_id, bare.project_id);

  await sessions.updateConfigs(full.id, { configs: { mode: 'y' } });
  assert.deepEqual((await sessions.getConfigs(full.id)).configs, { mode: 'y' });

  const first = await sessions.list({ limit: 1, timeDesc: true });
  assert.equal(first.items[0].id, full.id);
  assert.equal(first.has_more, true);
  const second = await sessions.list({ limit: 1, timeDesc: true, cursor: first.next_cursor });
  assert.equal(second.items[0].id, bare.id);
  await fails(() => sessions.list({ limit: 1000 }), 400, /limit/);
  await fails(() => sessions.list({ cursor: 'nonsense' }), 400, /cursor/);

  await sessions.delete(full.id);
  await fails(() => sessions.getConfigs(full.id), 404);
  await fails(() => sessions.delete(full.id), 404);
  await fails(() => sessions.getConfigs('nonsense'), 400, /UUID/);
  await fails(() => sessions.updateConfigs(unknown, { configs: {} }), 404);
});

check('store and read in four formats', async () => {
  const { id } = await sessions.create();
  const stored = [
    await sessions.storeMessage(id, { role: 'user', content: 'Where is Lisbon?' }),
    await sessions.storeMessage(id, {
      role: 'assistant', content: 'Let me look.',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"for":"Lisbon"}' } }],
    }, { format: 'openai' }),
    await sessions.storeMessage(id, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'In Portugal.' }] }, { format: 'anthropic' }),
    await sessions.storeMessage(id, { role: 'model', parts: [{ text: 'In Portugal.' }] }, { format: 'gemini' }),
    await sessions.storeMessage(id, new AcontextMessage({ role: 'user', parts: [MessagePart.textPart('Thanks.')] }), { format: 'acontext' }),
  ];
  stored.forEach((m, i) => {
    assert.match(m.id, uuid);
    assert.equal(m.session_id, id);
    assert.equal(m.parent_id, i === 0 ? null : stored[i - 1].id);
    assert.equal(m.session_task_process_status, 'pending');
    assert.deepEqual(m.meta, {});
  });
  assert.deepEqual(stored.map((m) => m.role), ['user', 'assistant', 'user', 'assistant', 'user']);
  assert.ok(stored.every((m, i) => i === 0 || m.created_at > stored[i - 1].created_at));

  const openai = await sessions.getMessages(id);
  assert.deepEqual(openai.ids, stored.map((m) => m.id));
  assert.equal(openai.has_more, false);
  assert.deepEqual(openai.items[0], { role: 'user', content: 'Where is Lisbon?' });
  assert.equal(openai.items[1].tool_calls[0].function.arguments, '{"for":"Lisbon"}');
  assert.equal(openai.items[2].role, 'tool');
  assert.equal(openai.items[2].tool_call_id, 'call_1');
  assert.equal(openai.items[4].content, 'Thanks.');

  const anthropic = await sessions.getMessages(id, { format: 'anthropic' });
  assert.deepEqual(anthropic.items[1].content.map((b) => b.type), ['text', 'tool_use']);
  assert.deepEqual(anthropic.items[1].content[1].input, { for: 'Lisbon' });

  const gemini = await sessions.getMessages(id, { format: 'gemini' });
  assert.deepEqual(gemini.items.map((m) => m.role), ['user', 'model', 'user', 'model', 'user']);

  const acontext = await sessions.getMessages(id, { format: 'acontext' });
  assert.deepEqual(acontext.items.map((m) => m.id), acontext.ids);
  assert.deepEqual(acontext.items.map((m) => m.parent_id), [null, ...acontext.ids.slice(0, -1)]);

  const newest = await sessions.getMessages(id, { limit: 2 });
  assert.deepEqual(newest.ids, openai.ids.slice(3)); // the newest page, oldest first
  const before = await sessions.getMessages(id, { limit: 2, cursor: newest.next_cursor });
  assert.deepEqual(before.ids, openai.ids.slice(1, 3));
  const oldest = await sessions.getMessages(id, { limit: 2, timeDesc: false });
  assert.deepEqual(oldest.ids, openai.ids.slice(0, 2));

  const edited = await sessions.getMessages(id, { format: 'acontext', editStrategies: [{ type: 'remove_tool_result', params: { keep_recent_n_tool_results: 0, tool_result_placeholder: 'gone' } }] });
  assert.equal(edited.items[2].parts[0].text, 'gone');
  await fails(() => sessions.getMessages(id, { editStrategies: [{ type: 'nonsense', params: {} }] }), 400);

  const { total_tokens } = await sessions.getTokenCounts(id);
  assert.ok(total_tokens > 5 && total_tokens < 100, `${total_tokens} tokens`);
  assert.equal((await read(id, {})).this_time_tokens, total_tokens);
});

check('files', async () => {
  const { id } = await sessions.create();
  const content = Buffer.from('%PDF-1.4 a ticket to Lisbon \u0000\u0001\u0002');
  const message = await sessions.storeMessage(id, {
    role: 'user', parts: [{ type: 'text', text: 'See the ticket.' }, { type: 'file', file_field: 'ticket' }],
  }, { format: 'acontext', fileField: 'ticket', file: new FileUpload({ filename: 'ticket.pdf', content, contentType: 'application/pdf' }) });
  const { asset, filename } = message.parts[1];
  assert.equal(filename, 'ticket.pdf');
  assert.equal(asset.mime, 'application/pdf');
  assert.equal(asset.size_b, content.length);
  assert.match(asset.sha256, /^[0-9a-f]{64}$/);

  const { items, public_urls } = await sessions.getMessages(id, { format: 'acontext' });
  assert.deepEqual(items[0].parts[1].asset, asset);
  const link = await fetch(public_urls[asset.sha256].url); // without the token
  assert.equal(link.status, 200);
  assert.ok(Buffer.from(await link.arrayBuffer()).equals(content));
  assert.equal(link.headers.get('content-disposition').startsWith('attachment'), true);
  assert.equal((await sessions.getMessages(id, { format: 'acontext', withAssetPublicUrl: false })).public_urls, undefined);

  const download = await fetch(`${client.baseUrl}/session/${id}/asset/download?s3_key=${encodeURIComponent(asset.s3_key)}`, {
    headers: { Authorization: `Bearer ${process.env.ACONTEXT_API_KEY}` },
  });
  assert.ok(Buffer.from(await download.arrayBuffer()).equals(content));

  await unchanged(id, () => fails(() => sessions.storeMessage(id, { role: 'user', parts: [{ type: 'file', file_field: 'other' }] },
    { format: 'acontext', fileField: 'ticket', file: new FileUpload({ filename: 'x', content }) }), 400, /other/));
});

check('observing, flush, tasks', async () => {
  const { id } = await sessions.create();
  await store(id, 'one');
  const status = await sessions.messagesObservingStatus(id);
  assert.deepEqual([status.observed, status.in_process, status.pending], [0, 0, 1]);
  assert.deepEqual(await sessions.flush(id), { status: 0, errmsg: '' });
  assert.deepEqual(await sessions.getTasks(id), { items: [], has_more: false });

  const untracked = await sessions.create({ disableTaskTracking: true });
  assert.equal((await store(untracked.id, 'one')).session_task_process_status, 'disable_tracking');
  await fails(() => sessions.flush(unknown), 404);
  await fails(() => sessions.messagesObservingStatus(unknown), 404);
  await fails(() => sessions.getTasks(unknown), 404);
  await fails(() => sessions.getTokenCounts(unknown), 404);
});

check('the branches of one conversation', async () => {
  const { id } = await sessions.create();
  assert.deepEqual(await branches(id), []);
  const none = await read(id, {});
  assert.deepEqual([none.items, none.ids, none.metas, none.has_more], [[], [], [], false]);

  const m = [null];
  for (let i = 1; i <= 6; i++) {
    m.push((await sessions.storeMessage(id, { role: i % 2 ? 'user' : 'assistant', content: `M${i}` })).id);
  }
  const m7 = await store(id, 'M7', { parent_id: m[2] });
  assert.equal(m7.parent_id, m[2]);
  m.push(m7.id);
  const m8 = await client.request('POST', `/session/${id}/messages`, { jsonData: { blob: { role: 'assistant', content: 'M8' } } });
  assert.equal(m8.parent_id, m7.id); // the newest message, not the end of the first branch
  m.push(m8.id);

  const leaves = await branches(id);
  assert.deepEqual(leaves.map(({ message_id, depth }) => ({ message_id, depth })), [
    { message_id: m[6], depth: 6 },
    { message_id: m[8], depth: 4 },
  ]);
  leaves.forEach((leaf) => assert.deepEqual(Object.keys(leaf), ['message_id', 'depth', 'created_at']));
  assert.ok(leaves[0].created_at < leaves[1].created_at);

  const texts = async (params) => (await read(id, params)).items.map((i) => i.content);
  assert.deepEqual(await texts({ leaf_id: m[6] }), ['M1', 'M2', 'M3', 'M4', 'M5', 'M6']);
  assert.deepEqual(await texts({ leaf_id: m[8] }), ['M1', 'M2', 'M7', 'M8']);
  assert.deepEqual(await texts({ leaf_id: m[4] }), ['M1', 'M2', 'M3', 'M4']); // any message
  assert.deepEqual(await texts({}), ['M1', 'M2', 'M7', 'M8']); // the newest leaf
  assert.deepEqual((await sessions.getMessages(id)).ids, [m[1], m[2], m[7], m[8]]);

  // In any form of a UUID, and with everything that a page may have.
  assert.deepEqual(await texts({ leaf_id: m[8].toUpperCase() }), ['M1', 'M2', 'M7', 'M8']);
  assert.deepEqual(await texts({ leaf_id: m[6], limit: 2, time_desc: true }), ['M5', 'M6']);
  assert.deepEqual(await texts({ leaf_id: m[6], limit: 2 }), ['M1', 'M2']);
  const page = await read(id, { leaf_id: m[6], limit: 2 });
  assert.deepEqual(await texts({ leaf_id: m[6], limit: 2, cursor: page.next_cursor }), ['M3', 'M4']);
  for (const format of ['openai', 'acontext', 'anthropic', 'gemini']) {
    assert.deepEqual((await read(id, { leaf_id: m[8], format })).ids, [m[1], m[2], m[7], m[8]]);
  }

  // null and "" are no parent.
  assert.equal((await store(id, 'M9', { parent_id: null })).parent_id, m[8]);
  const m10 = await store(id, 'M10', { parent_id: ' ' });
  assert.equal((await branches(id)).length, 2);

  const other = await sessions.create();
  const foreign = (await store(other.id, 'elsewhere')).id;
  await unchanged(id, async () => {
    for (const wrong of ['nonsense', m[2] + 'x', 7, true, {}, [m[2]]]) {
      await fails(() => store(id, 'x', { parent_id: wrong }), 400, /parent_id/);
    }
    await fails(() => store(id, 'x', { parent_id: unknown }), 404);
    await fails(() => store(id, 'x', { parent_id: foreign }), 404);
    await fails(() => store(id, 'x', { format: 'nonsense' }), 400, /format/);
    await fails(() => store(id, 'x', { meta: [] }), 400, /meta/);
    await fails(() => client.request('POST', `/session/${id}/messages`, { jsonData: { format: 'openai' } }), 400, /blob/);
    await fails(() => client.request('POST', `/session/${id}/messages`, { jsonData: { blob: { content: 'x' } } }), 400);
  });
  await fails(() => store('nonsense', 'x'), 400, /UUID/);
  await fails(() => store(unknown, 'x'), 404);
  await fails(() => read(id, { leaf_id: 'nonsense' }), 400, /leaf_id/);
  await fails(() => read(id, { leaf_id: unknown }), 404);
  await fails(() => read(id, { leaf_id: foreign }), 404);
  await fails(() => read(unknown, {}), 404);
  await fails(() => read(id, { format: 'nonsense' }), 400, /format/);
  await fails(() => read(id, { limit: 201 }), 400, /limit/);
  await fails(() => read(id, { cursor: 'nonsense' }), 400, /cursor/);
  await fails(() => branches('nonsense'), 400, /UUID/);
  await fails(() => branches(unknown), 404);

  // What newer SDKs have types for.
  await client.request('PATCH', `/session/${id}/messages/${m10.id}/meta`, { jsonData: { meta: { seen: true } } });
  assert.deepEqual((await read(id, {})).metas.at(-1), { seen: true });
  const copied = await client.request('POST', `/session/${id}/copy`);
  assert.equal(copied.old_session_id, id);
  assert.deepEqual((await branches(copied.new_session_id)).map((l) => l.depth), (await branches(id)).map((l) => l.depth));
});

check('a checkpoint is read and not written', async () => {
  const { id } = await sessions.create();
  for (const text of ['one', 'two', 'three']) await store(id, text);
  const checkpoint = JSON.parse(execFileSync('bough', ['-w', process.env.WORKSPACE, 'checkpoint', `urn:uuid:${id}`, '--json']));
  const listed = (await sessions.list({ limit: 200 })).items;
  const frozen = [];
  for (const s of listed) {
    if (s.id !== id && (await sessions.getMessages(s.id)).ids.join() === (await sessions.getMessages(id)).ids.join()) frozen.push(s.id);
  }
  assert.equal(frozen.length, 1, `${checkpoint.id} is not listed once`);
  const { items } = await sessions.getMessages(frozen[0]);
  assert.deepEqual(items.map((i) => i.content), ['one', 'two', 'three']);
  assert.deepEqual((await branches(frozen[0])).map((l) => l.depth), [3]);
  await unchanged(frozen[0], async () => {
    await fails(() => store(frozen[0], 'x'), 409, /checkpoint/);
    const { ids } = await sessions.getMessages(frozen[0]);
    await fails(() => store(frozen[0], 'x', { parent_id: ids[0] }), 409);
  });
  await store(id, 'four');
  assert.equal((await sessions.getMessages(frozen[0])).ids.length, 3);
});

check('what bough has not', async () => {
  const { id } = await sessions.create();
  await fails(() => sessions.connectToSpace(id, { spaceId: unknown }), 404, /connect_to_space/);
  await fails(() => sessions.getLearningStatus(id), 404);
  await fails(() => client.disks.list(), 404, /disk/);
  await fails(() => client.request('PUT', `/session/${id}`), 405);
});

check('who has not the token', async () => {
  const { id } = await sessions.create();
  const stranger = new AcontextClient({ apiKey: 'sk-ac-nobody' });
  await fails(() => stranger.ping(), 401, /^Unauthorized$/);
  await fails(() => stranger.sessions.list(), 401);
  await unchanged(id, () => fails(() => stranger.sessions.storeMessage(id, { role: 'user', content: 'x' }), 401));
});

(async () => {
  for (const { name, run } of checks) {
    try {
      await run();
      console.log(`ok ${name}`);
    } catch (err) {
      console.error(`FAILED ${name}\n${err.stack}`);
      process.exit(1);
    }
  }
  console.log(`all ${checks.length}`);
})();
