// The AI SDK as a judge: node judge.mjs FILE... validates UI messages and prints what goes to
// the model, a line of JSON for each file.
import fs from "node:fs";
import { convertToModelMessages, validateUIMessages } from "ai";
import { Said } from "../readers/said.mjs";

const textOf = (output) => (output.type.endsWith("text") ? output.value : JSON.stringify(output.value));

async function judge(file) {
  const parsed = JSON.parse(fs.readFileSync(file, "utf8"));
  const messages = await validateUIMessages({ messages: parsed.messages ?? parsed });
  const s = new Said();
  for (const { role, content } of await convertToModelMessages(messages)) {
    for (const p of typeof content === "string" ? [{ type: "text", text: content }] : content) {
      if (p.type === "text") s.text(role, p.text);
      else if (p.type === "reasoning") s.text(`${role} thinks`, p.text);
      else if (p.type === "file") s.image(role, p.mediaType, dataOf(p.data));
      else if (p.type === "tool-call") s.call(p.toolCallId, p.toolName, p.input);
      else if (p.type === "tool-result") s.result(p.toolCallId, textOf(p.output), p.output.type.startsWith("error"));
      else throw new Error(`a part of type ${p.type}`);
    }
  }
  return { ids: messages.map((m) => m.id), active: s.lines };
}

function dataOf(data) {
  if (data?.type === "url") data = data.url;
  if (data?.type === "data") data = data.data;
  return String(data).replace(/^data:[^,]*,/, "");
}

for (const file of process.argv.slice(2)) console.log(JSON.stringify(await judge(file)));
