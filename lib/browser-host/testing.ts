import { mkdtemp, readdir, readFile, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "#db/client.ts";
import { openTestDatabase } from "#db/testing.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import { createBrowserService } from "#lib/browser/create-browser-service.ts";
import { findTestChromium, waitFor } from "#lib/browser/testing.ts";
import { type BrowserControl, createBrowserControl } from "#lib/browser/view/browser-control.ts";
import type { EventBus } from "#lib/events/bus/bus.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { openTopic } from "#lib/events/bus/topic.ts";
import { createEventLog, type EventLog } from "#lib/events/event-log.ts";
import { deriveRelayKey } from "#lib/host-link/relay-token.ts";
import type { Logger } from "#lib/log/logger.ts";
import { downloadsIn } from "#lib/sandbox/store-download.ts";
import type { VercelBoxes } from "#lib/sandbox/vercel/vercel-box.ts";
import { createSealer, type Sealer } from "#lib/secrets/sealer.ts";
import { workspaceFiles } from "#lib/tools/browser/script/workspace-files.ts";
import { callOf, createEvidenceMemory, createTestSandbox } from "#lib/tools/browser/test-fixture.ts";
import type { ToolCall, ToolResult } from "#lib/tools/tool.ts";
import { newHostId } from "./host-id.ts";
import { createBoxedHosts } from "./service/boxed-host.ts";
import {
  type OpenBrowsersDeps,
  type OpenedBrowsers,
  openHostedBrowsers,
} from "./service/open-hosted-browsers.ts";
import { THIS_MACHINE } from "./service/this-machine.ts";
import { startLocalHost } from "./start-local-host.ts";

/** One process of the service, as far as it uses browsers. Several share a database and a data folder. */
export type TestProcess = OpenedBrowsers & {
  service: BrowserService;
  control: BrowserControl;
  warnings: string[];
  /** Runs a tool of the agent. @returns the text for the model. */
  use: (
    sessionId: string,
    name: string,
    input: object,
    call?: Partial<ToolCall & { epoch: number }>,
  ) => Promise<string>;
};

/** The token of hosts that a test starts as an operator does. */
export const TEST_HOST_TOKEN = "t".repeat(32);
export const TEST_RELAY_KEY = deriveRelayKey(new Uint8Array(32).fill(7));

/** What the processes of a test share. */
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

export type TestHosts = {
  db: Database;
  log: EventLog;
  dataDir: string;
  sealer: Sealer;
  open: (
    over?: Partial<OpenBrowsersDeps["local"] & { waitMs: number }> & { origin?: string | undefined },
    about?: Partial<OpenBrowsersDeps>,
  ) => Promise<TestProcess>;
  /** Opens a process whose hosts run in these boxes. */
  openBoxed: (boxes: VercelBoxes) => Promise<TestProcess>;
  /** Starts a host as an operator does, in a process of its own. @returns its URL. */
  startRemote: (maxLive: number, port?: number) => Promise<string>;
  /** Returns the id of the operating system's process of a host that these processes have started. */
  findHostProcess: (hostId: string) => Promise<number>;
  close: () => Promise<void>;
};

/** Creates a database and a data folder, with which a test opens processes. */
export async function openTestHosts(allow: string[]): Promise<TestHosts> {
  const database = await openTestDatabase();
  const { db } = database;
  const bus: EventBus = createMemoryBus();
  const log = createEventLog(db, bus);
  const dataDir = await mkdtemp(join(tmpdir(), "hosts-test-"));
  const processes: TestProcess[] = [];
  const remotes: string[] = [];
  const sealer = createSealer(new Uint8Array(32).fill(7));

  async function open(
    { waitMs = 60_000, origin = "http://127.0.0.1:1", ...over }: Parameters<TestHosts["open"]>[0] = {},
    about: Partial<OpenBrowsersDeps> = {},
  ): Promise<TestProcess> {
    const warnings: string[] = [];
    const logger: Logger = {
      debug() {},
      info() {},
      warn: (_, text) => warnings.push(text),
      error: (_, text) => warnings.push(text),
    };
    const control = createBrowserControl(openTopic(bus, "browser-control"));
    const sandbox = createTestSandbox();
    const opened = await openHostedBrowsers({
      db,
      log,
      logger,
      bus,
      sealer,
      control,
      evidence: createEvidenceMemory(),
      recordingBytesMax: 0,
      files: workspaceFiles(sandbox),
      variantScripts: { readRevision: async () => "", readShown: async () => "" },
      onRequestRefused() {},
      onAnnotation: async () => ({ isStored: true }),
      readPageScript: async () => ({ onDocumentStart: null, inFreshContexts: null, immediate: "" }),
      downloads: async (sessionId) => downloadsIn(await sandbox.open(sessionId)),
      settings: {
        allow,
        ownOrigin: { origin, publicOrigins: [] },
        idleMs: 600_000,
        waitMs,
        keepSpare: false,
        webdriver: true,
        scriptOrigin: "http://127.0.0.1:1",
      },
      machine: THIS_MACHINE,
      relay: { key: TEST_RELAY_KEY, url: undefined },
      remote: undefined,
      local: {
        launch: findTestChromium(),
        dataDir,
        maxLive: 4,
        lingerMs: 60_000,
        isUnconfinedAllowed: false,
        isWarm: false,
        ...over,
      },
      scriptHelpers: () => ({ greet: async (name) => `hello ${name}` }),
      describeScripts: () => ({ refusal: undefined, detail: "" }),
      describeBrowser: () => ({ available: true, detail: "" }),
      ...about,
    });
    const service = createBrowserService({ db, log, logger, browsers: opened.browsers });
    const own: TestProcess = {
      ...opened,
      service,
      control,
      warnings,
      async use(sessionId, name, input, call = {}) {
        const about = { ...callOf(undefined, sessionId), ...call };
        const release = await opened.pages.hold(about);
        try {
          return toText(await opened.pages.run(name, input, about));
        } finally {
          release();
        }
      },
    };
    processes.push(own);
    return own;
  }

  return {
    db,
    log,
    dataDir,
    sealer,
    open,
    openBoxed: (boxes) =>
      open(
        {},
        {
          local: undefined,
          boxed: createBoxedHosts({
            boxes,
            db,
            sealer,
            logger: SILENT,
            places: 4,
            limits: {},
            rootOf: async (id) => id,
          }),
        },
      ),
    findHostProcess: (hostId) => findHostProcess(join(dataDir, `host-${hostId}.log`)),
    async startRemote(maxLive, port = 0) {
      const own = join(dataDir, `remote-${remotes.length}`);
      const { url } = await startLocalHost({
        id: newHostId(),
        token: TEST_HOST_TOKEN,
        listen: { host: "127.0.0.1", port },
        isRemote: true,
        launch: findTestChromium(),
        dataDir: own,
        maxLive,
        lingerMs: 60_000,
        leaseKeptMs: 60_000,
        isUnconfinedAllowed: false,
        isWarm: false,
      });
      remotes.push(url);
      return url;
    },
    async close() {
      await Promise.all(processes.map((each) => each.close(true)));
      for (const url of remotes) await endListener(url, "SIGTERM");
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Finds the process of a host by the file to which it logs. */
async function findHostProcess(logPath: string): Promise<number> {
  for (const name of await readdir("/proc")) {
    const read = (file: string) => readFile(`/proc/${name}/${file}`, "utf8").catch(() => "");
    if (!/^\d+$/.test(name) || !(await read("cmdline")).includes("host-worker")) continue;
    if ((await readlink(`/proc/${name}/fd/2`).catch(() => "")) === logPath) return Number(name);
  }
  throw new Error(`no process logs to ${logPath}`);
}

/** Ends the process that listens at a URL on loopback, if there is one, and waits until it has ended. */
export async function endListener(url: string, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  const pid = await findListener(url);
  if (pid === undefined) return;
  process.kill(pid, signal);
  await waitFor(async () => (await findListener(url)) === undefined, "the end of the host");
}

/** Returns the id of the process that listens at a URL on loopback. */
export async function findListener(url: string): Promise<number | undefined> {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, "0");
  const sockets = await readFile("/proc/net/tcp", "utf8");
  const [, inode] = new RegExp(`:${port} 0{8}:0{4} 0A (?:\\S+ +){5}(\\d+)`).exec(sockets) ?? [];
  if (inode === undefined) return undefined;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const file of files)
      if ((await readlink(`/proc/${pid}/fd/${file}`).catch(() => "")) === `socket:[${inode}]`)
        return Number(pid);
  }
  return undefined;
}

const toText = ({ content }: ToolResult): string =>
  content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
