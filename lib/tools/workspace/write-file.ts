import { z } from "zod";
import { defineTool, errorResult, type Tool } from "../tool.ts";
import type { WorkspaceServices } from "./services.ts";
import { withinWorkspace } from "./within-workspace.ts";

/** Size limit of a file that the model writes. Files that programs or downloads write may be larger. */
const BYTES_MAX = 10 * 1_048_576;

/** `write_file`: writes a whole text file of the workspace. */
export const writeFile = ({ sandbox }: WorkspaceServices): Tool =>
  defineTool({
    name: "write_file",
    description: "Writes a text file of the session's workspace, at most 10 MiB.",
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
        if (bytes.byteLength > BYTES_MAX) return errorResult(`content: must be at most ${BYTES_MAX} bytes`);
        await workspace.writeFile(path, bytes);
        return `Wrote ${bytes.byteLength} bytes to ${path}.`;
      }),
  });
