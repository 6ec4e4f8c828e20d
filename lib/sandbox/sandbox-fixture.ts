import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import type { DiskFloor } from "#lib/disk/disk-floor.ts";
import { createSandboxService } from "./create-sandbox-service.ts";
import type { SandboxLimits } from "./sandbox-limits.ts";
import type { SandboxKind, Workspace } from "./sandbox-service.ts";
import { createVercelBoxes } from "./vercel/create-vercel-boxes.ts";
import { isWorkspaceError } from "./workspace-error.ts";

export const options = (timeoutMs = 60_000) => ({ timeoutMs, signal: new AbortController().signal });
export const bytes = (text: string) => new TextEncoder().encode(text);
export const readText = async (workspace: Workspace, path: string) =>
  new TextDecoder().decode((await workspace.readFile(path, 1_000_000)).bytes);
/** For `assert.rejects`: matches a WorkspaceError whose message fits the pattern. */
export const refused = (pattern: RegExp) => (error: unknown) =>
  isWorkspaceError(error) && pattern.test(error.message);

/** Creates sandboxes in a temporary data folder, for one test file. */
export async function makeSandboxFixture() {
  const dataDir = await mkdtemp(join(tmpdir(), "sandbox-test-"));
  const statuses: string[] = [];
  const make = (
    kind: SandboxKind,
    limits: Partial<SandboxLimits> = {},
    {
      launcherPath,
      evictAfterIdleMs,
      disk,
    }: { launcherPath?: string; evictAfterIdleMs?: number; disk?: DiskFloor } = {},
  ) =>
    createSandboxService({
      kind,
      dataDir,
      onStartupStatus: async (sessionId, status) => void statuses.push(`${sessionId} ${status}`),
      logger: { info: () => {}, warn: () => {} },
      limits,
      ...(kind === "vercel" && { boxes: createVercelBoxes({}) }),
      ...(launcherPath === undefined ? {} : { launcherPath }),
      ...(evictAfterIdleMs === undefined ? {} : { evictAfterIdleMs }),
      ...(disk === undefined ? {} : { disk }),
    });
  const sandboxes = await make("local");
  const isConfined = sandboxes.describe().canRunCommands;
  const titleSuffix = isConfined ? "" : " (no confinement on this machine: checks the refusal)";

  return {
    dataDir,
    statuses,
    make,
    sandboxes,
    isConfined,
    folderOf: (sessionId: string) => join(dataDir, "workspaces", sessionId),
    /** Runs a test of confined commands. If commands cannot be confined here, checks that they are refused. */
    itRuns(title: string, test: (workspace: Workspace, sessionId: string) => Promise<void>) {
      it(`${title}${titleSuffix}`, async () => {
        const sessionId = `ses_${Math.random().toString(36).slice(2)}`;
        const workspace = await sandboxes.open(sessionId);
        if (isConfined) await test(workspace, sessionId);
        else await assert.rejects(workspace.run("echo hi", options()), refused(/commands cannot run here/));
      });
    },
    async remove() {
      await sandboxes.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Waits for the file `started`, which the command of the test creates first. */
export async function untilStarted(workspace: Workspace) {
  while (!(await workspace.readFile("started", 1).catch(() => undefined))) await new Promise(setImmediate);
}
