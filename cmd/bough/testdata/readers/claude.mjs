// Claude Code as a judge: node claude.mjs FILE... prints what the agent SDK, which reads
// and forks the sessions of Claude Code, takes transcripts as, a line of JSON for each.
// It looks at a copy in a configuration folder of its own.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Said } from "./said.mjs";

const files = process.argv.slice(2);
const home = fs.mkdtempSync(path.join(os.tmpdir(), "judge-"));
process.on("exit", () => fs.rmSync(home, { recursive: true }));
process.env.HOME = process.env.USERPROFILE = home;
process.env.CLAUDE_CONFIG_DIR = path.join(home, ".claude");
const { forkSession, getSessionMessages, listSessions } = await import("@anthropic-ai/claude-agent-sdk");

const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).map((b) => b.text ?? `${b.source.media_type} ${b.source.data}`).join("\n");

// said returns the lines of messages as they go to the model.
function said(messages) {
  const s = new Said();
  for (const { type: role, message } of messages) {
    for (const b of typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content) {
      if (b.type === "text") s.text(role, b.text);
      else if (b.type === "image") s.image(role, b.source.media_type, b.source.data);
      else if (b.type === "thinking") s.text(`${role} thinks`, b.thinking);
      else if (b.type === "tool_use") s.call(b.id, b.name, b.input);
      else if (b.type === "tool_result") s.result(b.tool_use_id, textOf(b.content), b.is_error);
      else throw new Error(`a block of type ${b.type}`);
    }
  }
  return s.lines;
}

async function judge(file) {
  const lines = fs.readFileSync(file, "utf8").split("\n").filter(Boolean).map((l) => JSON.parse(l));
  const cwd = lines.find((l) => l.cwd)?.cwd ?? "/";
  const slug = cwd.replace(/[^A-Za-z0-9]/g, "-");
  if (slug.length > 200) throw new Error("the working directory is too long for this judge");
  const project = path.join(process.env.CLAUDE_CONFIG_DIR, "projects", slug);
  fs.mkdirSync(project, { recursive: true });
  fs.copyFileSync(file, path.join(project, path.basename(file)));
  const listed = await listSessions({ dir: cwd });
  if (listed.length > 1) throw new Error(`${listed.length} sessions are listed`);
  const id = path.basename(file, ".jsonl");
  const active = await getSessionMessages(id);

  // A fork up to an end is the way to it.
  const chain = lines.filter((l) => l.uuid && !l.isSidechain && l.type !== "progress");
  const parents = new Set(chain.map((l) => l.parentUuid));
  const ways = [];
  for (const l of chain) {
    if (parents.has(l.uuid)) continue;
    const fork = await forkSession(id, { upToMessageId: l.uuid });
    ways.push(said(await getSessionMessages(fork.sessionId)));
  }
  fs.rmSync(project, { recursive: true });
  return {
    id: listed[0]?.sessionId ?? "", // "": the picker does not show it
    cwd: listed[0]?.cwd ?? "",
    title: listed[0]?.customTitle ?? "",
    entries: chain.length,
    roots: chain.filter((l) => !l.parentUuid).length,
    leaf: active.at(-1)?.uuid ?? "",
    active: said(active),
    ways,
  };
}

for (const file of files) console.log(JSON.stringify(await judge(file)));
