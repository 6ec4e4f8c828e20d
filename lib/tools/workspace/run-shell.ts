import { z } from "zod";
import { defineTool, errorResult, type Tool } from "../tool.ts";
import { COMMAND_END_MS, COMMAND_TIMEOUT_MS_MAX, describeCommand } from "./describe-command.ts";
import type { WorkspaceServices } from "./services.ts";
import { withinWorkspace } from "./within-workspace.ts";

/**
 * Maximum length of a command. The command is one argument of a program, an argument can have at most 128 KiB, and a
 * character takes up to four bytes.
 */
const COMMAND_CHARACTERS_MAX = 32_000;

/** `run_shell`: runs a command in the sandbox. */
export const runShell = ({ sandbox }: WorkspaceServices): Tool =>
  defineTool({
    name: "run_shell",
    description:
      "Runs a bash command in the session's workspace (/workspace), without network; nothing runs on after it. Returns output and exit code.",
    input: z.object({
      command: z
        .string()
        .min(1)
        .max(COMMAND_CHARACTERS_MAX)
        .refine((command) => !command.includes("\0"), "must not contain NUL"),
      timeoutMs: z.number().int().min(1).max(COMMAND_TIMEOUT_MS_MAX).default(60_000),
      cwd: z.string().optional().describe("folder to start in"),
    }),
    idempotent: false,
    readOnly: false,
    changes: true,
    // Longer than the command's own deadline, so that a command that takes too long still returns its output so far.
    timeoutMs: COMMAND_TIMEOUT_MS_MAX + COMMAND_END_MS,
    longestMs: ({ timeoutMs }) => timeoutMs + COMMAND_END_MS,
    execute: ({ command, timeoutMs, cwd }, call) => {
      const { canRunCommands, detail } = sandbox.describe();
      // Checked first, so that no workspace is opened for a command that cannot run.
      if (!canRunCommands) return Promise.resolve(errorResult(detail));
      return withinWorkspace(sandbox, call, async (workspace) => {
        const options = { timeoutMs, signal: call.signal, ...(cwd === undefined ? {} : { cwd }) };
        return describeCommand(await workspace.run(command, options), workspace.note);
      });
    },
  });
