import type { StartupStatus } from "#db/schema/unions.ts";
import { SESSION_ID_PATTERN } from "#lib/session/new-id.ts";
import type { SandboxService, Workspace } from "../sandbox-service.ts";
import { WorkspaceError } from "../workspace-error.ts";
import type { BoxLimits, VercelBoxes } from "./vercel-box.ts";
import { openVercelWorkspace } from "./vercel-workspace.ts";

type Entry = { workspace: Promise<Workspace>; closing: AbortController };

const LOST =
  "the session's workspace was used before, but its files are gone: the platform no longer had the snapshot of its machine";

/** Creates the sandboxes of a deployment on Vercel: one virtual machine per session. Source: `architecture.md`, Seams. */
export function createVercelSandboxes(options: {
  boxes: VercelBoxes;
  limits: BoxLimits;
  onStartupStatus: (sessionId: string, status: StartupStatus) => Promise<void>;
  /** Reads this status. If it is `ready` although the box is new, the files of the session are lost. */
  readStartupStatus: (sessionId: string) => Promise<StartupStatus | undefined>;
}): SandboxService {
  const { boxes, limits, onStartupStatus, readStartupStatus } = options;
  const open = new Map<string, Entry>();

  async function start(sessionId: string, closing: AbortSignal): Promise<Workspace> {
    if (!SESSION_ID_PATTERN.test(sessionId)) throw new WorkspaceError("there is no session of this id");
    const wasReady = (await readStartupStatus(sessionId)) === "ready";
    await onStartupStatus(sessionId, "starting");
    try {
      const { box, isNew } = await boxes.open(sessionId);
      const note = isNew && wasReady ? LOST : undefined;
      const workspace = await openVercelWorkspace({ box, limits, closing, note });
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
