// Written by bough. 'bough hook uninstall pi' removes this file.
import { spawn } from "node:child_process";

const program = "@PROGRAM@"
const workspace = "@WORKSPACE@"

// run passes the path of the session to bough. It never fails, and waits at most two seconds.
const run = (event: string, ctx: any, prompt?: string) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, 2000);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    try {
      const file = ctx.sessionManager.getSessionFile();
      if (!file) return done();
      const child = spawn(program, ["-w", workspace, "hook", "run", "pi", event], {
        stdio: ["pipe", "ignore", "ignore"],
        windowsHide: true,
      });
      child.on("error", done);
      child.on("close", done);
      child.stdin.on("error", () => {});
      child.stdin.end(
        JSON.stringify({
          hook_event_name: event,
          session_id: ctx.sessionManager.getSessionId(),
          transcript_path: file,
          cwd: ctx.cwd,
          prompt,
        }),
      );
    } catch {
      done();
    }
  });

export default function (pi: any) {
  pi.on("before_agent_start", async (event: any, ctx: any) => {
    await run("before_agent_start", ctx, event.prompt);
  });
  pi.on("agent_end", async (_event: any, ctx: any) => {
    await run("agent_end", ctx);
  });
  pi.on("session_shutdown", async (_event: any, ctx: any) => {
    await run("session_shutdown", ctx);
  });
}
