import { isDeepStrictEqual } from "node:util";
import type { Sandbox } from "@vercel/sandbox";
import { WorkspaceError } from "../workspace-error.ts";
import { type BoxNetwork, boxPolicies } from "./box-network.ts";
import { hasStatus, isSnapshotGone } from "./sdk-errors.ts";
import type { VercelBox, VercelBoxes } from "./vercel-box.ts";

/**
 * The port of a box on which its browser host listens. All ports are named at the creation of a box, because a port that
 * is added to a running box may not work.
 */
export const BROWSER_HOST_PORT = 9_222;

/** The time of a box's session at its start. `extendTimeout` adds to it when a command needs more. */
const BOX_TIMEOUT_MS = 15 * 60_000;

/** What new boxes start from: a snapshot or an image; by default, the platform's own image. */
type BoxSource = { snapshotId?: string | undefined; image?: string | undefined };

/** Credentials for Vercel's API, and a `fetch` that leads to it. */
export type BoxConnection = { token: string; teamId: string; projectId: string; fetch: typeof fetch };

type BoxesOptions = {
  source?: BoxSource;
  /** What boxes can reach. Default: nothing. */
  network?: BoxNetwork;
  /** Called after a box has resumed: its files are there, but none of its processes. */
  onResume?: (sessionId: string, box: VercelBox) => Promise<void>;
  /** Credentials, and the way to the API. By default, the SDK finds them itself. */
  connection?: BoxConnection;
};

/**
 * Returns the name of a session's box. Underscores become hyphens, because the name of a box must not contain
 * underscores.
 */
const nameOf = (sessionId: string) => `agent-${sessionId.replaceAll("_", "-")}`;

/**
 * Creates boxes in the operator's Vercel account through Vercel's SDK. On Vercel, the SDK signs in with the platform's
 * token, elsewhere with `VERCEL_OIDC_TOKEN`. Source: the declarations of `@vercel/sandbox` 3; decision 094.
 */
export function createVercelBoxes(options: BoxesOptions = {}): VercelBoxes {
  const { source = {}, network = "none", onResume, connection } = options;
  const { snapshotId, image } = source;
  const origin =
    snapshotId === undefined
      ? image !== undefined && { image }
      : { source: { type: "snapshot", snapshotId } as const };
  const parametersOf = (sessionId: string) => ({
    ...connection,
    name: nameOf(sessionId),
    // Resumes the box now. Otherwise, a box whose snapshot has expired would fail at every call instead of being replaced.
    resume: true,
    ...(onResume && { onResume: (box: Sandbox) => onResume(sessionId, box) }),
  });

  /** Gives a box of an earlier deployment the network of this one. */
  async function withNetwork(box: Sandbox): Promise<Sandbox> {
    if (!isDeepStrictEqual(box.networkPolicy, boxPolicies[network]))
      await box.update({ networkPolicy: boxPolicies[network] });
    return box;
  }

  return {
    async open(sessionId) {
      const { Sandbox } = await loadSdk();
      const parameters = parametersOf(sessionId);
      let isNew = false;
      try {
        const box = await Sandbox.getOrCreate({
          ...parameters,
          ...origin,
          persistent: true,
          timeout: BOX_TIMEOUT_MS,
          ports: [BROWSER_HOST_PORT],
          networkPolicy: boxPolicies[network],
          // Each stop takes a snapshot, which is paid for until it is deleted.
          keepLastSnapshots: { count: 1 },
          onCreate: async () => {
            isNew = true;
          },
        });
        return { box: isNew ? box : await withNetwork(box), isNew };
      } catch (error) {
        // Another process has created the box meanwhile, or the SDK has repeated a creation whose answer was lost.
        const existing = await Sandbox.get(parameters).catch(() => undefined);
        if (existing) return { box: await withNetwork(existing), isNew };
        if (isSnapshotGone(error))
          throw new WorkspaceError(
            `the sandbox of this deployment cannot be created: its snapshot ${snapshotId} (VERCEL_SANDBOX_SNAPSHOT) does not exist any more`,
          );
        throw error;
      }
    },

    async findRunning(sessionId) {
      const { Sandbox } = await loadSdk();
      const box = await unlessMissing(Sandbox.get({ ...connection, name: nameOf(sessionId) }));
      return box?.status === "running" ? box.currentSession() : undefined;
    },

    async keepRunning(sessionId, leastMs) {
      const { Sandbox } = await loadSdk();
      const box = await unlessMissing(Sandbox.get({ ...connection, name: nameOf(sessionId) }));
      if (box?.status === "running") await extendTo(box, leastMs);
    },
    async remove(sessionId) {
      const { Sandbox } = await loadSdk();
      const box = await unlessMissing(Sandbox.get({ ...connection, name: nameOf(sessionId) }));
      if (box) await unlessMissing(box.delete({ deleteOrphanSnapshots: true }));
    },
  };
}

/** Extends the session of a box that would end earlier. A stopped box resumes with its full time. */
export async function extendTo(
  box: Pick<Sandbox, "expiresAt" | "extendTimeout">,
  leastMs: number,
): Promise<void> {
  const missingMs = leastMs - Math.max(0, (box.expiresAt?.getTime() ?? 0) - Date.now());
  if (missingMs <= 0) return;
  try {
    await box.extendTimeout(missingMs);
  } catch (error) {
    // The plan's longest session is reached. The box runs until then; the next call resumes it.
    if (!hasStatus(error, 400, 422)) throw error;
  }
}

/** Waits for a call about a box. @returns undefined if there is no such box. */
async function unlessMissing<Result>(call: Promise<Result>): Promise<Result | undefined> {
  try {
    return await call;
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}

/** Loads the SDK on demand, because only deployments on Vercel need it. */
export function loadSdk() {
  // The SDK reads this variable itself. It would otherwise send the name of a coding agent that it finds on this machine.
  process.env.VERCEL_SANDBOX_TELEMETRY_DISABLED = "1";
  return import("@vercel/sandbox");
}
