import { randomBytes } from "node:crypto";
import { posix } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "#db/client.ts";
import { PROTOCOL_VERSION } from "#lib/host-link/link-message.ts";
import type { Logger } from "#lib/log/logger.ts";
import { installBoxProgram } from "#lib/sandbox/vercel/box-program.ts";
import { BROWSER_HOST_PORT } from "#lib/sandbox/vercel/create-vercel-boxes.ts";
import { probeBubblewrap, readImageRecord } from "#lib/sandbox/vercel/image-record.ts";
import {
  isRunning,
  programFolderIn,
  readEndpoint,
  readLog,
  startInBox,
  stopInBox,
} from "#lib/sandbox/vercel/start-in-box.ts";
import type { OpenBox, VercelBoxes } from "#lib/sandbox/vercel/vercel-box.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { placeHostToken } from "#lib/session/secrets/secret-names.ts";
import type { HostStart } from "../host/run-host.ts";
import { newHostId } from "../host-id.ts";
import {
  type HostRow,
  insertBoxedHost,
  isHostUsed,
  readBoxedHost,
  readLease,
  removeHost,
  renewHost,
} from "./host-store.ts";

/** The browser hosts in the boxes (Vercel Sandboxes) of sessions: one host per box. */
export type BoxedHosts = {
  /**
   * Connects to the host in the session's box. Starts the box and the host if they do not run.
   *
   * @param connect connects to a stored host. @throws Error with a sentence if the host does not start.
   */
  open: <Host>(sessionId: string, connect: (host: HostRow) => Promise<Host>) => Promise<Host>;
  /**
   * Whether a host to which a connection failed has ended. If so, gives it up: its browsers are lost. A host that is
   * starting, or that runs without being reachable, has not ended.
   */
  giveUpIfEnded: (host: Pick<HostRow, "id" | "sessionId">) => Promise<boolean>;
  /** Keeps the box of a connected host running while its browsers are used. @returns a function that stops this. */
  keepRunning: (host: Pick<HostRow, "id" | "sessionId">) => () => void;
};

type BoxedHostsDeps = {
  boxes: VercelBoxes;
  db: Database;
  sealer: Sealer;
  logger: Logger;
  /** Number of browsers that a host runs at most: those of a session and of its sub-agents. */
  places: number;
  limits: Pick<HostStart, "contextsPerProcess" | "pageLimits">;
  /** Returns the session in whose box the browser of a session runs. The box of a session is also that of its sub-agents. */
  rootOf: (sessionId: string) => Promise<string>;
};

/** How long a box and its host may take to start. */
const START_MS_MAX = 120_000;
const RENEW_EVERY_MS = 3_000;
const RETRY_MS = 250;
/** How long browsers stay without a connected function. The platform stops the box at about the same time. */
const LINGER_MS = 15 * 60_000;
/** How long the proxy of a test run stays without a connected function. Plays of a test run follow each other at once. */
const LEASE_KEPT_MS = 5 * 60_000;
const KEEP_EVERY_MS = 60_000;
/** A box whose browsers were used within this time is kept running for at least this time. */
const KEEP_MS = 10 * 60_000;

/**
 * Creates the hosts in boxes. A host is stored before it is started, and a session has at most one stored host, so only
 * one process starts it. The lock of the box holds against a start that the SDK repeats. Source: decision 098.
 */
export function createBoxedHosts(deps: BoxedHostsDeps): BoxedHosts {
  const { boxes, db, logger } = deps;
  const opening = new Map<string, Promise<unknown>>();

  async function giveUpIfEnded({ id, sessionId }: Pick<HostRow, "id" | "sessionId">): Promise<boolean> {
    if (sessionId === null) return false;
    const lease = await readLease(db, id);
    if (!lease.isStored) return true;
    if (lease.isValid || (await isRunning(boxes, sessionId, BROWSER_HOST_PORT))) return false;
    await removeHost(db, id);
    return true;
  }

  async function openOnce<Host>(root: string, connect: (host: HostRow) => Promise<Host>): Promise<Host> {
    const until = performance.now() + START_MS_MAX;
    for (;;) {
      const existing = await readBoxedHost(db, root);
      const host = existing ?? (await start(deps, root));
      if (!host) continue;
      try {
        return await connect(host);
      } catch (error) {
        if (await giveUpIfEnded(host)) {
          if (existing) continue;
          logger.warn(
            { sessionId: root, output: await readOutput(root) },
            "a browser host ended at its start",
          );
          throw new Error("The browser host ended at its start, in this session's machine.", {
            cause: error,
          });
        }
        if (performance.now() > until) {
          logger.warn({ sessionId: root, err: error }, "a browser host in a Vercel Sandbox does not answer");
          throw new Error("The browser host in this session's machine does not answer.", { cause: error });
        }
        await sleep(RETRY_MS);
      }
    }
  }

  /** Returns the last output of the host in a session's box. */
  async function readOutput(sessionId: string): Promise<string> {
    const box = await boxes.findRunning(sessionId);
    return box ? readLog(box, BROWSER_HOST_PORT) : "";
  }

  return {
    async open(sessionId, connect) {
      const root = await deps.rootOf(sessionId);
      const existing = opening.get(root);
      // The cast is safe: all callers of a process connect in the same way.
      if (existing) return existing as ReturnType<typeof connect>;
      const opened = openOnce(root, connect).finally(() => opening.delete(root));
      opening.set(root, opened);
      return opened;
    },
    giveUpIfEnded,
    keepRunning({ id, sessionId }) {
      const timer = setInterval(() => {
        if (sessionId === null) return;
        isHostUsed(db, id, KEEP_MS)
          .then((isUsed) => (isUsed ? boxes.keepRunning(sessionId, KEEP_MS) : undefined))
          .catch((error: unknown) =>
            logger.warn({ err: error, sessionId }, "a Vercel Sandbox was not extended"),
          );
      }, KEEP_EVERY_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}

/**
 * Stores a new host of the session, and starts it in the session's box. Does not wait until it listens.
 *
 * @returns the stored host; undefined if another process has stored one meanwhile.
 */
async function start(deps: BoxedHostsDeps, sessionId: string): Promise<HostRow | undefined> {
  const { db, sealer, boxes, places, limits, logger } = deps;
  const { box } = await boxes.open(sessionId);
  const { chromium } = (await readImageRecord(box)) ?? {};
  if (!chromium)
    throw new Error(
      "There is no browser: the machine of this session was created from an image without Chromium.",
    );
  const id = newHostId();
  const token = randomBytes(32).toString("base64url");
  const host = await insertBoxedHost(db, {
    id,
    home: "sandbox",
    sessionId,
    machine: null,
    url: readEndpoint(box, BROWSER_HOST_PORT).replace(/^http/, "ws"),
    sealedToken: sealer.seal(placeHostToken(id), token),
    protocol: PROTOCOL_VERSION,
    places,
  });
  if (!host) return undefined;
  const renewing = setInterval(
    () =>
      void renewHost(db, id, {}).catch((error: unknown) =>
        logger.warn({ err: error, sessionId }, "the lease of a browser host that starts was not renewed"),
      ),
    RENEW_EVERY_MS,
  );
  try {
    await startProgram(box, {
      id,
      token,
      launch: { executablePath: posix.resolve(box.cwd, chromium.path) },
      maxLive: places,
      ...limits,
    });
    return host;
  } catch (error) {
    await removeHost(db, id);
    throw new Error("The browser host did not start in this session's machine.", { cause: error });
  } finally {
    clearInterval(renewing);
  }
}

/** Ends the host of an earlier row, whose token is not stored any more, and starts the new one. */
async function startProgram(
  box: OpenBox,
  own: Pick<HostStart, "id" | "token" | "launch" | "maxLive" | "contextsPerProcess" | "pageLimits">,
): Promise<void> {
  const bubblewrap = await probeBubblewrap(box);
  const { root } = await installBoxProgram(box);
  const sudo = bubblewrap !== "user";
  await stopInBox(box, BROWSER_HOST_PORT, sudo);
  const settings: HostStart = {
    ...own,
    dataDir: `${programFolderIn(box)}/host`,
    listen: { host: "0.0.0.0", port: BROWSER_HOST_PORT },
    lingerMs: LINGER_MS,
    leaseKeptMs: LEASE_KEPT_MS,
    isRemote: false,
    // Where bubblewrap does not work at all, scripts run as users of their own, who have no credentials.
    isUnconfinedAllowed: bubblewrap === "none",
    isWarm: true,
  };
  await startInBox(box, {
    command: "node",
    args: ["--disable-warning=ExperimentalWarning", `${root}/program/boxed-host-worker.mjs`],
    env: {},
    input: JSON.stringify(settings),
    sudo,
    port: BROWSER_HOST_PORT,
  });
}
