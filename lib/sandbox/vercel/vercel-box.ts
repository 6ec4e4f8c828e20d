import type { SandboxLimits } from "../sandbox-limits.ts";

/** A command at work in a box. */
export type BoxCommand = {
  logs: () => AsyncIterable<{ data: string }>;
  wait: () => Promise<{ exitCode: number }>;
  kill: (signal: "SIGKILL") => Promise<unknown>;
};

/** As much of a Vercel Sandbox as a workspace uses. */
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

/** Where boxes come from. */
export type VercelBoxes = {
  /** The session's box, made where there is none; one that was stopped goes on with its files. */
  open: (sessionId: string) => Promise<VercelBox>;
  remove: (sessionId: string) => Promise<void>;
};

/** A box that nobody uses stops after this, and comes back at the next use. */
const BOX_TIMEOUT_MS = 15 * 60_000;

/** Names of boxes take hyphens. */
const nameOf = (sessionId: string) => `agent-${sessionId.replaceAll("_", "-")}`;

/**
 * Boxes of the Vercel account at hand, by its SDK: on Vercel the platform's own token is the credential, elsewhere
 * `VERCEL_OIDC_TOKEN`. A box reaches no network. Source: the declarations of `@vercel/sandbox` 3.
 */
export function createVercelBoxes(): VercelBoxes {
  // The package is needed by deployments on Vercel alone.
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

/** The limits of a workspace that hold in a box too; its memory, disk and processes are the machine's own. */
export type BoxLimits = Pick<SandboxLimits, "writeBytesMax" | "outputBytesMax" | "floodBytesMax">;
