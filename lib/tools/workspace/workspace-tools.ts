import { z } from "zod";
import { defineTool, errorResult, type Tool } from "../tool.ts";
import { COMMAND_END_MS, COMMAND_TIMEOUT_MS_MAX, describeCommand } from "./describe-command.ts";
import { fetchUrl } from "./fetch/fetch-url.ts";
import { readFile } from "./read-file.ts";
import type { WorkspaceServices } from "./services.ts";
import { viewImage } from "./view-image.ts";
import { withinWorkspace } from "./within-workspace.ts";

/** Size limit of a file that the model writes. Files that programs or downloads write may be larger. */
const WRITTEN_BYTES_MAX = 10 * 1_048_576;

/** How many entries `list_files` lists. */
const ENTRIES_MAX = 1_000;

/**
 * Maximum length of a command. The command is one argument of a program, an argument can have at most 128 KiB, and a
 * character takes up to four bytes.
 */
const COMMAND_CHARACTERS_MAX = 32_000;

/** The tools of the workspace, and `fetch_url`. A tool that does not fit on a screen has a file of its own. */
export const workspaceTools = (services: WorkspaceServices): Tool[] => {
  const { sandbox } = services;
  return [
    readFile(services),
    defineTool({
      name: "write_file",
      description: "Writes a text file of the workspace, at most 10 MiB.",
      input: z.object({
        path: z.string().min(1).describe("such as notes/report.md"),
        content: z.string(),
      }),
      // Writing the same content twice has the same result as writing it once.
      idempotent: true,
      readOnly: false,
      changes: true,
      execute: ({ path, content }, call) =>
        withinWorkspace(sandbox, call, async (workspace) => {
          const bytes = new TextEncoder().encode(content);
          if (bytes.byteLength > WRITTEN_BYTES_MAX)
            return errorResult(`content: must be at most ${WRITTEN_BYTES_MAX} bytes`);
          await workspace.writeFile(path, bytes);
          return `Wrote ${bytes.byteLength} bytes to ${path}.`;
        }),
    }),
    defineTool({
      name: "list_files",
      description: "Lists files and folders of the workspace.",
      input: z.object({
        path: z.string().default(""),
        recursive: z.boolean().default(false),
      }),
      idempotent: true,
      readOnly: true,
      changes: false,
      execute: ({ path, recursive }, call) =>
        withinWorkspace(sandbox, call, async (workspace) => {
          const entries = await workspace.list(path, { recursive, limit: ENTRIES_MAX + 1 });
          const notes = workspace.note === undefined ? [] : [`[${workspace.note}]`];
          if (entries.length === 0) return ["[the folder is empty]", ...notes].join("\n");
          const lines = entries
            .slice(0, ENTRIES_MAX)
            .map((entry) =>
              entry.type === "directory" ? `${entry.path}/` : `${entry.path}  ${entry.sizeBytes}`,
            );
          if (entries.length > ENTRIES_MAX)
            lines.push(`[more than ${ENTRIES_MAX} entries: list a folder below]`);
          return [...lines, ...notes].join("\n");
        }),
    }),
    defineTool({
      name: "run_shell",
      description:
        "Runs a bash command in the workspace (/workspace), without network; nothing runs on after it.",
      input: z.object({
        command: z
          .string()
          .min(1)
          .max(COMMAND_CHARACTERS_MAX)
          .refine((command) => !command.includes("\0"), "must not contain NUL"),
        timeoutMs: z.number().int().min(1).max(COMMAND_TIMEOUT_MS_MAX).default(60_000),
        cwd: z.string().optional(),
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
    }),
    viewImage(services),
    fetchUrl(services),
  ];
};
