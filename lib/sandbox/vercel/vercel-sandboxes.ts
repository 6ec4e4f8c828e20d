import type { StartupStatus } from "#db/schema/unions.ts";
import { SESSION_ID_PATTERN } from "#lib/session/new-id.ts";
import type { SandboxService, Workspace } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import type { BoxLimits, VercelBoxes } from "./vercel-box.ts";
import { createVercelWorkspace } from "./vercel-workspace.ts";

type Entry = { workspace: Promise<Workspace>; closing: AbortController };

/** The folder of a box that holds the workspace. */
const ROOT = "/vercel/sandbox";

/** Creates the sandboxes of a deployment on Vercel: one virtual machine per session. Source: `architecture.md`, Seams. */
export function createVercelSandboxes(options: {
  boxes: VercelBoxes;
  limits: BoxLimits;
  onStartupStatus: (sessionId: string, status: StartupStatus) => Promise<void>;
  root?: string;
}): SandboxService {
  const { boxes, limits, onStartupStatus, root = ROOT } = options;
  const open = new Map<string, Entry>();

  async function start(sessionId: string, closing: AbortSignal): Promise<Workspace> {
    if (!SESSION_ID_PATTERN.test(sessionId)) throw new WorkspaceError("there is no session of this id");
    await onStartupStatus(sessionId, "starting");
    try {
      const workspace = createVercelWorkspace({ box: await boxes.open(sessionId), root, limits, closing });
      await onStartupStatus(sessionId, "ready");
      return workspace;
    } catch (error) {
      await onStartupStatus(sessionId, "error");
      throw error;
    }
  }

  return {
    open(sessionId) {
      const existing = open.get(sessionId);
      if (existing) return existing.workspace;
      const closing = new AbortController();
      const created = { closing, workspace: start(sessionId, closing.signal) };
      open.set(sessionId, created);
      // A box that could not be opened is dropped, so that the next call retries.
      created.workspace.catch(() => open.get(sessionId) === created && open.delete(sessionId));
      return created.workspace;
    },
    describe: () => ({
      kind: "vercel",
      canRunCommands: true,
      detail: "Vercel Sandbox: a machine of its own for each session, without a network",
      isolation: "a machine per session",
    }),
    async remove(sessionId) {
      open.get(sessionId)?.closing.abort();
      open.delete(sessionId);
      if (SESSION_ID_PATTERN.test(sessionId)) await boxes.remove(sessionId);
    },
    async close() {
      for (const { closing } of open.values()) closing.abort();
      open.clear();
    },
  };
}
