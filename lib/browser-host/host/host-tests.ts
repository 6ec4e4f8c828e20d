import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createDiskFloor } from "#lib/disk/disk-floor.ts";
import type { LinkEndedError } from "#lib/host-link/link-message.ts";
import type { Logger } from "#lib/log/logger.ts";
import { createLocalSandboxes } from "#lib/sandbox/local/create-local-sandboxes.ts";
import { isRunning } from "#lib/sandbox/local/process-tree.ts";
import type {
  ChangedFile,
  CommandResult,
  SandboxService,
  TestProgram,
  Workspace,
  WorkspaceFile,
} from "#lib/sandbox/sandbox-service.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";

/**
 * The tests that run at a host on another machine than the service: for each leased test run a copy of the session's
 * workspace, and Playwright's runner in this machine's sandbox.
 */
export type HostTests = {
  add: (leaseId: string, files: WorkspaceFile[]) => Promise<void>;
  /**
   * Runs the tests, or waits for those that run already. Ends them when the signal fires, unless the caller's link has
   * ended: another call may then wait for them.
   */
  run: (
    leaseId: string,
    tests: { program: TestProgram; timeoutMs: number },
    signal: AbortSignal,
  ) => Promise<CommandResult>;
  hasRun: (leaseId: string) => boolean;
  read: (leaseId: string, path: string, limitBytes: number) => ReturnType<Workspace["readFile"]>;
  listChanged: (leaseId: string) => Promise<ChangedFile[]>;
  /** Ends the tests of a lease and removes their files. */
  remove: (leaseId: string) => Promise<void>;
  close: () => Promise<void>;
};

type Place = {
  workspace: Promise<Workspace>;
  /** Hashes of the files that were added, by path. */
  added: Map<string, string>;
  ending: AbortController;
  running: Promise<CommandResult> | undefined;
};

/** Free space that must stay on the disk of the host. */
const FREE_BYTES_MIN = 256 * 2 ** 20;
/** Largest number of entries of a copy, and the largest file that is read to find out whether it has changed. */
const ENTRIES_MAX = 50_000;
const FILE_BYTES_MAX = 256 * 2 ** 20;

/** Creates the tests of a host. @param dataDir the folder of the host, which exists. */
export function createHostTests({ dataDir, logger }: { dataDir: string; logger: Logger }): HostTests {
  const places = new Map<string, Place>();
  const removals = new Map<string, Promise<void>>();
  let sandboxes: Promise<SandboxService> | undefined;

  const openSandboxes = () => {
    sandboxes ??= startSandboxes(dataDir, logger);
    sandboxes.catch(() => {
      sandboxes = undefined;
    });
    return sandboxes;
  };

  function placeOf(leaseId: string): Place {
    const existing = places.get(leaseId);
    if (existing) return existing;
    // An earlier lease of this test run may just have ended.
    const removed = removals.get(leaseId) ?? Promise.resolve();
    const workspace = removed.then(openSandboxes).then((opened) => opened.open(leaseId));
    const place: Place = { workspace, added: new Map(), ending: new AbortController(), running: undefined };
    places.set(leaseId, place);
    workspace.catch(() => places.get(leaseId) === place && places.delete(leaseId));
    return place;
  }

  async function remove(leaseId: string): Promise<void> {
    const place = places.get(leaseId);
    if (!place) return;
    places.delete(leaseId);
    place.ending.abort(new Error("the lease of the test run was released"));
    const removal = removeFiles(leaseId, place);
    removals.set(leaseId, removal);
    await removal.finally(() => removals.get(leaseId) === removal && removals.delete(leaseId));
  }

  async function removeFiles(leaseId: string, { workspace, running }: Place): Promise<void> {
    await running?.catch(() => {});
    // A copy that could not be opened has no files.
    if (await workspace.catch(() => undefined)) await (await openSandboxes()).remove(leaseId);
  }

  return {
    async add(leaseId, files) {
      const { workspace, added } = placeOf(leaseId);
      for (const { path, bytes } of files) {
        await (await workspace).writeFile(path, bytes);
        added.set(path, hashOf(bytes));
      }
    },
    async run(leaseId, { program, timeoutMs }, signal) {
      const place = placeOf(leaseId);
      const end = () => {
        if (!isLeft(signal.reason)) place.ending.abort(signal.reason);
      };
      place.running ??= place.workspace.then((opened) =>
        opened.runTests(program, { timeoutMs, signal: place.ending.signal }),
      );
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
      try {
        return await Promise.race([place.running, untilLeft(signal)]);
      } finally {
        signal.removeEventListener("abort", end);
      }
    },
    hasRun: (leaseId) => places.get(leaseId)?.running !== undefined,
    read: async (leaseId, path, limitBytes) => (await placeOf(leaseId).workspace).readFile(path, limitBytes),
    async listChanged(leaseId) {
      const { workspace, added } = placeOf(leaseId);
      return listChanged(await workspace, added);
    },
    remove,
    async close() {
      await Promise.all([...places.keys()].map(remove));
      await (await sandboxes?.catch(() => undefined))?.close();
      if (sandboxes) await rm(folderIn(dataDir), { recursive: true, force: true });
    },
  };
}

/** A link keeps the names of errors, but not their classes. */
const isLeft = (reason: unknown): boolean =>
  (reason as Error).name === ("LinkEndedError" satisfies LinkEndedError["name"]);

/** Rejects when the caller leaves tests that run on. */
function untilLeft(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => isLeft(signal.reason) && reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  return promise;
}

const FOLDER_PREFIX = "tests-";
const folderIn = (dataDir: string) => join(dataDir, `${FOLDER_PREFIX}${process.pid}`);

/** Opens sandboxes in a folder of this process. Removes those of earlier processes, which were killed. */
async function startSandboxes(dataDir: string, logger: Logger): Promise<SandboxService> {
  for (const name of await readdir(dataDir)) {
    const [, pid] = new RegExp(`^${FOLDER_PREFIX}(\\d+)$`).exec(name) ?? [];
    const isUnused = pid !== undefined && (Number(pid) === process.pid || !isRunning(Number(pid)));
    if (isUnused) await rm(join(dataDir, name), { recursive: true, force: true });
  }
  return createLocalSandboxes({
    kind: "local",
    dataDir: folderIn(dataDir),
    disk: createDiskFloor(dataDir, FREE_BYTES_MIN),
    logger,
    onStartupStatus: async () => {},
  });
}

async function listChanged(workspace: Workspace, added: ReadonlyMap<string, string>): Promise<ChangedFile[]> {
  const entries = await workspace.list("", { recursive: true, limit: ENTRIES_MAX });
  const changed: ChangedFile[] = [];
  for (const { type, path, sizeBytes } of entries) {
    if (type !== "file") continue;
    const hash = added.get(path);
    if (hash === undefined || hash !== (await readHash(workspace, path))) changed.push({ path, sizeBytes });
  }
  return changed;
}

/** Returns the hash of a file. Undefined if a test has made it unreadable. */
async function readHash(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    return hashOf((await workspace.readFile(path, FILE_BYTES_MAX)).bytes);
  } catch (error) {
    if (isWorkspaceError(error)) return undefined;
    throw error;
  }
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("base64");
