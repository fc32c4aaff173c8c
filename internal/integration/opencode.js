// Written by bough. 'bough hook uninstall opencode' removes this file.
import { spawn } from "node:child_process"

const program = "@PROGRAM@"
const workspace = "@WORKSPACE@"

// run passes a conversation to bough. It never fails, and waits at most two seconds.
const run = (event, input) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, 2000)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    try {
      const child = spawn(program, ["-w", workspace, "hook", "run", "opencode", event], {
        stdio: ["pipe", "ignore", "ignore"],
        windowsHide: true,
      })
      child.on("error", done)
      child.on("close", done)
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(input))
    } catch {
      done()
    }
  })

export const Bough = async ({ client, directory }) => {
  // hook reads a conversation as 'opencode export' prints it.
  const hook = async (event, id) => {
    try {
      const path = { id }
      const info = (await client.session.get({ path })).data
      if (!info || info.parentID) return
      const messages = (await client.session.messages({ path })).data ?? []
      await run(event, { hook_event_name: event, session_id: id, cwd: directory, export: { info, messages } })
    } catch {}
  }
  return {
    "chat.message": async (input) => hook("chat.message", input.sessionID),
    event: async ({ event }) => {
      if (event.type === "session.idle") await hook("session.idle", event.properties.sessionID)
    },
  }
}
