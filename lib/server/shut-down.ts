import type { Server } from "node:http";
import type { Logger } from "#lib/log/logger.ts";

/** How long closing the parts may take after the grace period. Then the process ends anyway. */
const CLOSE_DEADLINE_MS = 15_000;
/** Under npm, a signal can arrive twice, from the terminal and from npm. */
const SAME_SIGNAL_MS = 500;

type ShutdownDeps = {
  /** The listener of requests. */
  listener: { drain: (graceMs: number) => Promise<void>; endStreams: () => Promise<void> };
  container: {
    drain: (graceMs: number) => Promise<void>;
    close: (options: { isFinal: boolean }) => Promise<void>;
  };
  server: Pick<Server, "close" | "closeAllConnections">;
  pages: { close: () => Promise<void> };
  logger: Pick<Logger, "info" | "error">;
  /** How long steps and requests in progress may take to end. */
  graceMs: number;
  exit?: (code: number) => void;
  /** A monotonic clock, in milliseconds. */
  now?: () => number;
};

/**
 * Creates the orderly shutdown. It refuses new requests and begins no more steps of turns, waits up to `graceMs` for
 * those in progress, ends event streams after a whole event, and closes all parts. Turns whose step did not end continue
 * after the next start. The process then ends with the exit code 0, or 1 if a part could not be closed.
 *
 * @returns the function that begins the shutdown. Called again later, it ends the process at once, with `code`.
 */
export function createShutdown({
  listener,
  container,
  server,
  pages,
  logger,
  graceMs,
  exit = process.exit,
  now = () => performance.now(),
}: ShutdownDeps) {
  let begunAt: number | undefined;

  async function close(isFinal: boolean): Promise<void> {
    await Promise.all([listener.drain(graceMs), container.drain(graceMs)]);
    server.close();
    await listener.endStreams();
    await container.close({ isFinal });
    server.closeAllConnections();
    await pages.close();
  }

  return {
    isClosing: () => begunAt !== undefined,
    async begin(reason: string, code: number): Promise<void> {
      if (begunAt !== undefined) {
        if (now() - begunAt > SAME_SIGNAL_MS) exit(code);
        return;
      }
      begunAt = now();
      logger.info({ reason, graceMs }, "the service began to shut down");
      setTimeout(() => exit(1), graceMs + CLOSE_DEADLINE_MS).unref();
      try {
        // After SIGTERM the service is usually started again, for example by a deployment. Its browsers stay meanwhile.
        await close(reason !== "SIGTERM");
        exit(0);
      } catch (error) {
        logger.error({ err: error }, "the service did not shut down cleanly");
        exit(1);
      }
    },
  };
}
