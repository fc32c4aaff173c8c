// Drives 'bough mcp' and /mcp of 'bough serve' with the official TypeScript client, which
// checks each result of a tool against the tool's schema.
import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'

const { WORKSPACE, URL_MCP, TOKEN, EXPLORATION } = process.env
const lines = () => new StdioClientTransport({ command: 'bough', args: ['-w', WORKSPACE, 'mcp'], env: process.env, stderr: 'inherit' })
const http = () => new StreamableHTTPClientTransport(new URL(URL_MCP), { requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } } })

// connect returns a client that answers questions with an action, or cannot be asked.
async function connect(transport, action) {
  const client = new Client({ name: 'drive', version: '1' }, { capabilities: action ? { elicitation: {} } : {} })
  client.asked = []
  if (action) {
    client.setRequestHandler(ElicitRequestSchema, async (request) => {
      client.asked.push(request.params.message)
      return action === 'hang' ? new Promise(() => {}) : { action, content: {} }
    })
  }
  client.updates = []
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => { client.updates.push(n.params.uri) })
  await client.connect(transport)
  client.tools = (await client.listTools()).tools
  return client
}

async function call(client, name, args = {}, options) {
  const result = await client.callTool({ name, arguments: args }, undefined, options)
  assert.ok(!result.isError, `${name}: ${result.content[0]?.text}`)
  return result.structuredContent
}

async function fails(client, name, args, text) {
  const result = await client.callTool({ name, arguments: args })
  assert.ok(result.isError, `${name} succeeds`)
  assert.match(result.content[0].text, text)
}

async function until(what, holds) {
  for (let i = 0; i < 500; i++) {
    if (holds()) return
    await new Promise((done) => setTimeout(done, 20))
  }
  assert.fail(`${what} does not happen`)
}

// story calls every tool.
async function story(client, other) {
  const called = new Set()
  const tool = async (name, args) => { called.add(name); return call(client, name, args) }
  const start = await tool('append_message', { session_id: 'Plan the trip', text: 'By train?', role: 'user' })
  const place = `${start.session_id}@${start.message_id}`
  const shown = await tool('show_conversation', { ref: place })
  assert.equal(shown.messages.at(-1).text, 'By train?')
  const saved = await tool('create_checkpoint', { ref: place, name: 'By train' })
  assert.ok((await tool('list_checkpoints')).sessions.some((s) => s.id === saved.id))
  const branch = await tool('branch_from', { ref: place, name: 'By bus' })
  await call(client, 'append_message', { text: 'By bus!' })
  const diff = await tool('compare_branches', { a: place, b: branch.id })
  assert.equal(diff.common, start.message_id)
  assert.equal(diff.b.messages[0].text, 'By bus!')
  assert.ok(Array.isArray((await tool('suggest_branches')).suggestions))
  assert.equal((await tool('compare_outcomes', { refs: [place, branch.id] })).common, start.message_id)
  const merged = await tool('merge_branch', { branch: branch.id, into: place, summary: 'By bus, perhaps.' })
  assert.equal(merged.parent_id, start.message_id)
  const picked = await tool('pick_messages', { refs: [branch.id], onto: place })
  assert.ok(picked.messages[0].from.message_id)
  const pruned = await tool('prune_context', { ref: branch.id, squash: `..${start.message_id}`, summary: 'They go by train.' })
  assert.equal(pruned.summary.text, 'They go by train.')
  const again = await tool('replay_messages', { ref: `..${place}`, dry_run: true })
  assert.ok(again.left.length > 0 && again.tokens.input > 0)
  const edited = await tool('edit_message', { ref: place, text: 'By ship?', keep_head: true })
  assert.equal(edited.from.message_id, start.message_id)
  assert.ok((await tool('restore_checkpoint', { session_id: saved.id })).read_only)
  assert.equal((await tool('rewind', { ref: place })).head.message_id, start.message_id)
  assert.equal((await tool('status')).head.message_id, start.message_id)
  await tool('bookmark', { ref: place, label: 'the train', move: true })
  assert.ok((await tool('conversation_tree', { session_id: start.session_id })).nodes.length > 0)
  assert.ok((await tool('conversation_tree')).nodes.length > 2)
  assert.ok((await tool('search', { text: 'train' })).matches.length > 0)
  assert.ok((await tool('list_sessions', { kind: 'branch' })).sessions.length > 0)
  assert.deepEqual((await tool('agent_snapshot', { agent: 'ada' })).follow_up_queue, [])
  for (const name of ['steer', 'follow_up']) {
    called.add(name)
    await fails(client, name, { agent: 'ada', text: 'Now.' }, /^refused: the agent is idle/)
  }
  const states = (await tool('list_states')).states
  const [then, now] = states.map((s) => s.id)
  const { changes } = await tool('compare_states', { from: then, to: now, patch: true })
  assert.deepEqual(changes.map((c) => c.path), ['plan.txt'])
  assert.equal((await tool('blame', { file: 'plan.txt' })).lines[0].text, 'May')
  assert.ok((await tool('bisect_steps', { ref: `${states[1].session_id}@${states[1].message_id}` })).steps.length > 1)
  assert.ok((await tool('file_history', { path: 'plan.txt' })).total > 0)
  const planned = async (state) => (await tool('show_file', { state, path: 'plan.txt' })).text
  assert.equal(await planned(now), 'May\nLisbon\n')
  assert.deepEqual((await tool('restore_files', { ref: then, whole: true })).files.written, ['plan.txt'])
  assert.equal((await call(client, 'compare_states', { from: then })).changes.length, 0)
  assert.ok((await tool('undo')).operations[0].undoes)
  assert.equal((await call(client, 'compare_states', { from: now })).changes.length, 0)
  called.add('explore')
  await fails(client, 'explore', { command: 'try', strategies: [{ name: 'a' }] }, /^not_found: no command try/)
  assert.ok((await tool('adopt', { id: EXPLORATION, branch_id: 'tram' })).adopted_node_id)
  const content = JSON.stringify([{ role: 'user', content: `How tall? ${place}` }, { role: 'assistant', content: '300 m.' }])
  const imported = await tool('import', { content })
  assert.equal(imported.imported[0].status, 'new')
  const exported = await tool('export', { ref: imported.imported[0].session_id, to: 'openai' })
  assert.match(exported.content, /How tall/)
  assert.equal((await tool('log', { limit: 1 })).operations[0].verb, 'import')
  assert.ok((await tool('undo')).operations[0].undoes)
  assert.equal((await tool('sync')).remote, 'home')
  assert.ok((await tool('list_remote')).sessions.length > 0)
  assert.equal(client.asked.length, 6)
  for (const t of client.tools) assert.ok(called.has(t.name), `the story does not call ${t.name}`)
  assert.equal(client.tools.length, 38)

  // Errors.
  await fails(client, 'show_conversation', { ref: 'nowhere' }, /^not_found: /)
  await fails(client, 'rewind', {}, /^usage: /)
  await assert.rejects(client.callTool({ name: 'rm' }), /unknown tool/)
  await assert.rejects(client.readResource({ uri: 'bough://sessions/nowhere' }))

  // Resources, which tell of changes by the other client.
  const resources = (await client.listResources()).resources.map((r) => r.uri)
  const uri = `bough://sessions/${start.session_id}`
  assert.ok(resources.includes(uri) && resources.includes('bough://agents/ada/snapshot'))
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 5)
  const [path] = (await client.readResource({ uri: `bough://paths/${encodeURIComponent(place)}` })).contents
  assert.match(path.text, /By train\?/)
  const [snapshot] = (await client.readResource({ uri: 'bough://agents/ada/snapshot' })).contents
  assert.ok('active_branch_id' in JSON.parse(snapshot.text))
  await client.subscribeResource({ uri })
  client.updates.length = 0
  await call(other, 'append_message', { session_id: start.session_id, text: 'From elsewhere.' })
  await until('the update', () => client.updates.includes(uri))
  await client.unsubscribeResource({ uri })

  // Prompts and completion.
  const prompts = (await client.listPrompts()).prompts
  assert.equal(prompts.length, 5)
  const prompt = await client.getPrompt({ name: 'checkpoint_before', arguments: { task: 'rewrite it' } })
  assert.match(prompt.messages[0].content.text, /rewrite it/)
  const done = await client.complete({ ref: { type: 'ref/resource', uri: 'bough://agents/{agent}' }, argument: { name: 'agent', value: 'a' } })
  assert.deepEqual(done.completion.values, ['ada'])

  // Progress.
  let progress = 0
  const long = JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `${i} ${'x'.repeat(1500)}` })))
  await call(client, 'import', { content: long, dry_run: true }, { onprogress: (p) => { progress = p.progress } })
  await until('progress', () => progress > 0)
}

for (const [name, transport] of [['lines', lines], ['http', http]]) {
  const client = await connect(transport(), 'accept')
  const other = await connect(name === 'lines' ? http() : lines())
  await story(client, other)

  // Without elicitation, or if the user declines, nothing changes.
  const seq = async () => (await call(other, 'log', { limit: 1 })).operations[0].seq
  const before = await seq()
  await fails(other, 'undo', {}, /bough -w /)
  const declines = await connect(transport(), 'decline')
  await fails(declines, 'undo', {}, /declined/)

  // A call that is cancelled while the user is asked.
  const hangs = await connect(transport(), 'hang')
  const abort = new AbortController()
  const cancelled = assert.rejects(hangs.callTool({ name: 'undo' }, undefined, { signal: abort.signal }))
  await until('the question', () => hangs.asked.length > 0)
  abort.abort()
  await cancelled
  assert.ok(await call(hangs, 'status'))
  assert.equal(await seq(), before)

  for (const c of [client, other, declines, hangs]) await c.close()
  console.log(`${name}: ok`)
}

await assert.rejects(new Client({ name: 'x', version: '1' }).connect(new StreamableHTTPClientTransport(new URL(URL_MCP))))
console.log('\nall ok')
process.exit(0)
