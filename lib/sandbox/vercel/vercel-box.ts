import type { SandboxLimits } from "../sandbox-limits.ts";

/** A running command in a box (a Vercel Sandbox). */
export type BoxCommand = {
  logs: () => AsyncIterable<{ data: string }>;
  wait: () => Promise<{ exitCode: number }>;
  kill: (signal: "SIGKILL") => Promise<unknown>;
};

/** The part of a Vercel Sandbox that a workspace uses. */
export type VercelBox = {
  runCommand: (params: {
    cmd: string;
    args: string[];
    cwd?: string;
    detached: true;
    timeoutMs?: number;
  }) => Promise<BoxCommand>;
  readFileToBuffer: (file: { path: string }) => Promise<Buffer | null>;
  writeFiles: (files: { path: string; content: Uint8Array }[]) => Promise<void>;
};

/** Opens and removes the boxes of sessions. */
export type VercelBoxes = {
  /** Opens the session's box; creates it if necessary. A stopped box resumes with its files. */
  open: (sessionId: string) => Promise<VercelBox>;
  remove: (sessionId: string) => Promise<void>;
};

/** A box stops after this time without use, and resumes at the next use. */
const BOX_TIMEOUT_MS = 15 * 60_000;

/**
 * Returns the name of a session's box. Underscores become hyphens, because the name of a box must not contain
 * underscores.
 */
const nameOf = (sessionId: string) => `agent-${sessionId.replaceAll("_", "-")}`;

/**
 * Creates boxes in the operator's Vercel account through Vercel's SDK. On Vercel, the SDK signs in with the platform's
 * token, elsewhere with `VERCEL_OIDC_TOKEN`. A box has no network. Source: the declarations of `@vercel/sandbox` 3.
 */
export function createVercelBoxes(): VercelBoxes {
  // The package is loaded on demand, because only deployments on Vercel need it.
  const load = () => import("@vercel/sandbox");
  return {
    async open(sessionId) {
      const { Sandbox } = await load();
      return Sandbox.getOrCreate({
        name: nameOf(sessionId),
        persistent: true,
        timeout: BOX_TIMEOUT_MS,
        networkPolicy: "deny-all",
      });
    },
    async remove(sessionId) {
      const { Sandbox } = await load();
      const box = await Sandbox.get({ name: nameOf(sessionId) }).catch(() => undefined);
      await box?.delete();
    },
  };
}

/** The limits that also apply in a box. Memory, disk and processes are limited by the box's machine itself. */
export type BoxLimits = Pick<SandboxLimits, "writeBytesMax" | "outputBytesMax" | "floodBytesMax">;
