// pi as a judge: node pi.mjs PACKAGE FILE... prints what the SessionManager of a release
// of pi takes session files as, a line of JSON for each. It opens copies, for it
// rewrites what it finds old.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Said } from "./said.mjs";

const [release, ...files] = process.argv.slice(2);
const home = fs.mkdtempSync(path.join(os.tmpdir(), "judge-"));
process.on("exit", () => fs.rmSync(home, { recursive: true }));
process.env.HOME = process.env.USERPROFILE = process.env.PI_CODING_AGENT_DIR = home;
// By its path: the whole package would load every provider's library.
const at = `./node_modules/${release}/dist/core/`;
const { SessionManager, buildSessionContext } = await import(at + "session-manager.js");
const { convertToLlm } = await import(at + "messages.js");
const { transformMessages } = await import("./node_modules/@earendil-works/pi-ai/dist/api/transform-messages.js");

const textOf = (content) =>
  typeof content === "string" ? content : content.map((b) => b.text ?? `${b.mimeType} ${b.data}`).join("\n");

// said returns the lines of messages as they go to the model.
function said(messages) {
  const s = new Said();
  for (const m of messages) {
    switch (m.role) {
      case "toolResult":
        s.result(m.toolCallId, textOf(m.content), m.isError);
        continue;
      case "compactionSummary":
      case "branchSummary":
        s.text("summary", m.summary);
        continue;
      case "bashExecution":
        s.text("user", `${m.command}\n${m.output}`);
        continue;
    }
    const role = m.role === "custom" ? "user" : m.role;
    for (const b of typeof m.content === "string" ? [{ type: "text", text: m.content }] : m.content) {
      if (b.type === "text") s.text(role, b.text);
      else if (b.type === "image") s.image(role, b.mimeType, b.data);
      else if (b.type === "thinking") s.text(`${role} thinks`, b.thinking);
      else if (b.type === "toolCall") s.call(b.id, b.name, b.arguments);
      else throw new Error(`a block of type ${b.type}`);
    }
  }
  return s.lines;
}

function judge(file) {
  const before = fs.readFileSync(file);
  const copy = path.join(home, path.basename(file));
  fs.writeFileSync(copy, before);
  const session = SessionManager.open(copy);
  const entries = session.getEntries();
  const parents = new Set(entries.map((e) => e.parentId));
  const labels = {};
  for (const e of entries) {
    const label = session.getLabel(e.id);
    if (label !== undefined) labels[label] = said(buildSessionContext(entries, e.id).messages).at(-1);
  }
  const header = session.getHeader();
  const active = session.buildSessionContext().messages;
  const model = { provider: "another", api: "another", id: "another", input: ["text", "image"] };
  return {
    id: session.getSessionId(),
    cwd: session.getCwd(),
    title: session.getSessionName() ?? "",
    from: header.parentSession ?? "",
    entries: entries.length,
    roots: session.getTree().length,
    rewritten: !before.equals(fs.readFileSync(copy)),
    labels,
    active: said(active),
    // What of it any model gets: a call that is not answered at once is said to have failed.
    sent: said(transformMessages(convertToLlm(active), model)),
    // Every way from a root to an end, in the order of the ends in the file.
    ways: entries.filter((e) => !parents.has(e.id)).map((e) => said(buildSessionContext(entries, e.id).messages)),
  };
}

for (const file of files) console.log(JSON.stringify(judge(file)));
