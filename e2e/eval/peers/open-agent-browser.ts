import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { tool } from "ai";
import { z } from "zod";
import type { OpenPeer } from "./peer.ts";

const run = promisify(execFile);

const COMMAND_MS_MAX = 120_000;

/**
 * Gives the model a shell with the command `agent-browser`, and the command's own guide as instructions. Its MCP server
 * is no better choice: the schemas of its smallest profile are five times as long as the guide. The shell is not confined.
 */
export const openAgentBrowser: OpenPeer = async (folder, chromium) => {
  const home = await mkdtemp(join(tmpdir(), "agent-browser-"));
  const program = join(folder, "node_modules/agent-browser/bin/agent-browser.js");
  const command = join(home, "agent-browser");
  await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await chmod(command, 0o755);
  // Keys of the model's provider are not passed on.
  const env: NodeJS.ProcessEnv = {
    NODE_ENV: "production",
    HOME: home,
    PATH: `${home}:${dirname(process.execPath)}:${process.env.PATH}`,
    AGENT_BROWSER_EXECUTABLE_PATH: chromium,
    AGENT_BROWSER_ARGS: "--no-sandbox",
  };
  const options = { cwd: home, env, timeout: COMMAND_MS_MAX, maxBuffer: 4 * 1024 * 1024 };
  const guide = await run(command, ["skills", "get", "core"], options);
  const counts = { toolCalls: 0, toolErrors: 0 };
  return {
    instructions: `You do tasks in a web browser with the command agent-browser.\n\n${guide.stdout}`,
    tools: {
      shell: tool({
        description: "Runs a command in a shell and returns what it prints.",
        inputSchema: z.object({ command: z.string() }),
        async execute({ command: line }) {
          counts.toolCalls += 1;
          try {
            const { stdout, stderr } = await run("bash", ["-c", line], options);
            return stdout + stderr;
          } catch (error) {
            counts.toolErrors += 1;
            const {
              stdout = "",
              stderr = "",
              message,
            } = error as Error & { stdout?: string; stderr?: string };
            return stdout + stderr || message;
          }
        },
      }),
    },
    countCalls: () => counts,
    async close() {
      await run(command, ["close", "--all"], options);
      await rm(home, { recursive: true, force: true });
    },
  };
};
