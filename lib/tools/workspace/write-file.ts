import { z } from "zod";
import { defineTool, type Tool } from "../tool.ts";
import type { WorkspaceServices } from "./services.ts";
import { withinWorkspace } from "./within-workspace.ts";

/** `write_file`: a whole text file of the workspace. */
export const writeFile = ({ sandbox }: WorkspaceServices): Tool =>
  defineTool({
    name: "write_file",
    description:
      "Writes a text file of the session's workspace, replacing what it held; missing folders are made. " +
      "At most 10 MiB.",
    input: z.object({
      path: z.string().min(1).describe("path relative to the workspace, such as notes/report.md"),
      content: z.string(),
    }),
    needs: "sandbox",
    profile: "analysis",
    // The same content written twice leaves the same file.
    idempotent: true,
    readOnly: false,
    execute: ({ path, content }, call) =>
      withinWorkspace(sandbox, call, async (workspace) => {
        const bytes = new TextEncoder().encode(content);
        await workspace.writeFile(path, bytes);
        return `Wrote ${bytes.byteLength} bytes to ${path}.`;
      }),
  });
