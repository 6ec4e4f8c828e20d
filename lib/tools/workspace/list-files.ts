import { z } from "zod";
import { defineTool, type Tool } from "../tool.ts";
import type { WorkspaceServices } from "./services.ts";
import { withinWorkspace } from "./within-workspace.ts";

const entriesMax = 1_000;

/** `list_files`: lists a folder of the workspace. */
export const listFiles = ({ sandbox }: WorkspaceServices): Tool =>
  defineTool({
    name: "list_files",
    description: `Lists the files and folders of the session's workspace, at most ${entriesMax}.`,
    input: z.object({
      path: z.string().default("").describe("a folder; the root if left out"),
      recursive: z.boolean().default(false),
    }),
    idempotent: true,
    readOnly: true,
    changes: false,
    execute: ({ path, recursive }, call) =>
      withinWorkspace(sandbox, call, async (workspace) => {
        const entries = await workspace.list(path, { recursive, limit: entriesMax + 1 });
        const notes = workspace.note === undefined ? [] : [`[${workspace.note}]`];
        if (entries.length === 0) return ["[the folder is empty]", ...notes].join("\n");
        const lines = entries
          .slice(0, entriesMax)
          .map((entry) =>
            entry.type === "directory" ? `${entry.path}/` : `${entry.path}  ${entry.sizeBytes}`,
          );
        if (entries.length > entriesMax) lines.push(`[more than ${entriesMax} entries: list a folder below]`);
        return [...lines, ...notes].join("\n");
      }),
  });
