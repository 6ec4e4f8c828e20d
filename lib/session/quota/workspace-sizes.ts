import type { Database } from "#db/client.ts";
import type { Logger } from "#lib/log/logger.ts";
import { storeWorkspaceSizes } from "../store/owner-usage-store.ts";

/** Records the last measured sizes of workspaces. The sandbox measures them for its own quota. */
type WorkspaceSizes = { note: (sessionId: string, bytes: number) => void; close: () => Promise<void> };

const FLUSH_MS = 5_000;

/**
 * Creates {@link WorkspaceSizes} that store changed sizes every five seconds, with one statement for all workspaces.
 */
export function createWorkspaceSizes(db: Database, logger: Pick<Logger, "warn">): WorkspaceSizes {
  let changed = new Map<string, number>();
  let flushing = Promise.resolve();
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();

  function flush(): Promise<void> {
    flushing = flushing.then(write);
    return flushing;
  }
  async function write(): Promise<void> {
    if (changed.size === 0) return;
    const sizes = changed;
    changed = new Map();
    try {
      await storeWorkspaceSizes(
        db,
        [...sizes].map(([id, bytes]) => ({ id, bytes })),
      );
    } catch (error) {
      changed = new Map([...sizes, ...changed]);
      logger.warn({ err: error }, "storing workspace sizes failed; they will be stored later");
    }
  }

  return {
    note: (sessionId, bytes) => void changed.set(sessionId, bytes),
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
