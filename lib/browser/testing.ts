import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { browserHosts, sessions } from "#db/schema/index.ts";
import { openTestDatabase, sessionRow } from "#db/testing.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { createEventLog, type EventLog } from "#lib/events/event-log.ts";
import type { Logger } from "#lib/log/logger.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import type { BrowserService, HostBrowsers, HostPlaces } from "./browser-service.ts";
import { createBrowserService, expireLost } from "./create-browser-service.ts";
import { createHostBrowsers } from "./create-host-browsers.ts";
import type { HostBrowsersDeps } from "./host/host-parts.ts";
import { createStoredRecords } from "./store/stored-records.ts";
import { createControlledCalls } from "./view/controlled-calls.ts";
import { createHostControl } from "./view/host-control.ts";

const WELL_KNOWN = [
  "/usr/lib/chromium/chromium-headless-shell",
  "/usr/lib/chromium/chromium",
  "/usr/bin/chromium",
  "/usr/bin/google-chrome",
];

/**
 * Finds a Chromium for tests: the program in `BROWSER_EXECUTABLE_PATH`, the program that `npm run setup` found, or a
 * program at a common path.
 *
 * @throws Error if there is no Chromium, because a test that needs a browser must fail instead of being skipped.
 */
export function findTestChromium(): {
  executablePath: string;
  args?: string[];
  env?: Record<string, string>;
} {
  const named = process.env.BROWSER_EXECUTABLE_PATH;
  if (named) return { executablePath: named };
  const setup = join(import.meta.dirname, "../../.data/setup.json");
  if (existsSync(setup)) {
    const { chromium } = JSON.parse(readFileSync(setup, "utf8")) as {
      chromium?: { executablePath?: string; args?: string[]; env?: Record<string, string> };
    };
    if (chromium?.executablePath && existsSync(chromium.executablePath)) {
      const { executablePath, args = [], env = {} } = chromium;
      return { executablePath, args, env };
    }
  }
  const found = WELL_KNOWN.find((path) => existsSync(path));
  if (!found)
    throw new Error("no Chromium for the tests: run `npm run setup`, or set BROWSER_EXECUTABLE_PATH");
  return { executablePath: found };
}

/** Starts a web site on loopback. */
export async function startTestSite(
  listener: RequestListener,
): Promise<{ origin: string; port: number; close: () => Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Stores a session, by default with all capabilities. @returns the session's id. */
export async function insertTestSession(
  db: Database,
  fields: Partial<typeof sessions.$inferInsert> = {},
): Promise<string> {
  const id = `ses_${randomBytes(6).toString("hex")}`;
  await db.insert(sessions).values(sessionRow({ id, ...fields }));
  return id;
}

/**
 * Polls `ask` until it returns neither undefined nor false, first every 20 ms and later every 100 ms. @throws Error when
 * `timeoutMs` have passed.
 */
export async function waitFor<Value>(
  ask: () => Value | undefined | false | Promise<Value | undefined | false>,
  what: string,
  timeoutMs = 90_000,
): Promise<Value> {
  const end = Date.now() + timeoutMs;
  for (let pauseMs = 20; Date.now() < end; pauseMs = Math.min(pauseMs * 1.1, 100)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(`waited ${timeoutMs} ms for ${what}`);
}

/** No person has control of a browser. */
const NO_CONTROL: HostBrowsersDeps["control"] = {
  holderOf: () => undefined,
  follow: () => () => {},
  isPrivate: () => false,
  readHandover: async () => {},
};

/** The sealer of the browsers of tests. */
export const TEST_SEALER = createSealer(new Uint8Array(32).fill(7));

/** The browsers of a host in the test's process, and what the database records about them. */
export type TestBrowserService = Omit<BrowserService, "lease" | "copy" | "paste" | "setViewport" | "act"> &
  Pick<
    HostBrowsers,
    | "ensure"
    | "hold"
    | "lease"
    | "goTo"
    | "input"
    | "copy"
    | "paste"
    | "setViewport"
    | "act"
    | "readField"
    | "addressOf"
    | "takeRestartNote"
    | "takeViewportNote"
    | "readLastError"
    | "listLive"
    | "listUp"
  > &
  Pick<HostPlaces, "handOver">;

/** A browser service for a test, and what the service stored and logged. */
export type TestBrowsers = {
  browsers: TestBrowserService;
  db: Database;
  log: EventLog;
  dataDir: string;
  annotations: { sessionId: string; submission: unknown }[];
  /** Files that pages offered for download. */
  downloads: { sessionId: string; name: string; text: string }[];
  warnings: string[];
  /** Starts a second host on the same database and data folder, as if the first one had ended without a message. */
  restart: (over?: Partial<HostBrowsersDeps>) => Promise<TestBrowserService>;
  close: () => Promise<void>;
};

/** Stores a browser host that no process renews, with a lease that outlasts the test. @returns the host's id. */
export async function insertTestHost(db: Database): Promise<string> {
  const id = `bh_${randomBytes(6).toString("hex")}`;
  await db.insert(browserHosts).values({
    id,
    home: "local",
    url: "ws://127.0.0.1:1",
    sealedToken: "",
    protocol: 1,
    places: 8,
    leaseUntil: new Date(Date.now() + 86_400_000),
  });
  return id;
}

/**
 * Starts the browser service for a test. `allow` lists the addresses that pages may open, in the format of
 * `NETWORK_ALLOW`. If `shared` is given, the service uses that database instead of a new one.
 */
export async function openTestBrowsers(
  allow: string[],
  over: Partial<HostBrowsersDeps> = {},
  shared?: Database,
): Promise<TestBrowsers> {
  const database = shared ? { db: shared, close: async () => {} } : await openTestDatabase();
  const log = createEventLog(database.db, createMemoryBus());
  const dataDir = await mkdtemp(join(tmpdir(), "browsers-test-"));
  await chmod(dataDir, 0o755);
  const annotations: TestBrowsers["annotations"] = [];
  const downloads: TestBrowsers["downloads"] = [];
  const warnings: string[] = [];
  const services: TestBrowserService[] = [];
  const logger: Logger = {
    info() {},
    debug() {},
    warn: (_, text) => warnings.push(text),
    error: (_, text) => warnings.push(text),
  };
  let hostId = await insertTestHost(database.db);
  const restart = async (again: Partial<HostBrowsersDeps> = {}) => {
    if (services.length > 0) {
      await database.db.delete(browserHosts).where(eq(browserHosts.id, hostId));
      hostId = await insertTestHost(database.db);
    }
    const host = await createHostBrowsers({
      records: createStoredRecords(
        { db: database.db, log, logger, sealer: TEST_SEALER, recordingBytesMax: 0 },
        hostId,
      ),
      logger,
      launch: findTestChromium(),
      dataDir,
      rule: createAddressRule({ allow }),
      control: NO_CONTROL,
      ownOrigin: undefined,
      idleMs: 600_000,
      maxLive: 8,
      waitMs: 60_000,
      async onAnnotation(sessionId, body) {
        annotations.push({ sessionId, submission: JSON.parse(body) });
        return { isStored: true };
      },
      async storeDownload(sessionId, name, bytes) {
        downloads.push({ sessionId, name, text: new TextDecoder().decode(bytes) });
        return `downloads/${name}`;
      },
      readPageScript: async () => ({ onDocumentStart: null, inFreshContexts: null, immediate: "" }),
      keepSpare: false,
      ...over,
      ...again,
    });
    const control = createHostControl({
      hostId,
      browsers: () => host,
      onChange() {},
      emit: async () => {},
      isHandedOver: async () => false,
      handoverPages: () => undefined,
      logger,
    });
    const reached = {
      ...host,
      ...createControlledCalls({ control, browsers: async () => host, via: () => control }),
      readControl: async (sessionId: string) => control.stateOf(sessionId),
      noteHandover: control.readHandover,
      reapIdle: async (list: (id: string) => Promise<string[]>) => host.reapIdle(await list(hostId)),
    };
    const about = { db: database.db, log, logger };
    await expireLost(about);
    const service = {
      ...createBrowserService({ ...about, browsers: reached }),
      ensure: host.ensure,
      hold: host.hold,
      lease: host.lease,
      goTo: host.goTo,
      input: host.input,
      copy: host.copy,
      paste: host.paste,
      setViewport: host.setViewport,
      act: host.act,
      readField: host.readField,
      addressOf: host.addressOf,
      readLastError: host.readLastError,
      takeRestartNote: host.takeRestartNote,
      takeViewportNote: host.takeViewportNote,
      listLive: host.listLive,
      listUp: host.listUp,
      handOver: host.handOver,
    };
    services.push(service);
    return service;
  };
  const browsers = await restart();
  return {
    browsers,
    db: database.db,
    log,
    dataDir,
    annotations,
    downloads,
    warnings,
    restart,
    async close() {
      await Promise.all(services.map((service) => service.close()));
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Returns the ids of the browser processes that are recorded in a data folder, and of their descendant processes. */
export async function findBrowserProcesses(dataDir: string): Promise<number[]> {
  const folder = join(dataDir, "browsers");
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const found = names.map(
    (name) => (JSON.parse(readFileSync(join(folder, name), "utf8")) as { pid: number }).pid,
  );
  for (const pid of found)
    for (const thread of readOrNothing(() => readdirSync(`/proc/${pid}/task`))) {
      const children = readOrNothing(() =>
        readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim().split(/\s+/),
      );
      found.push(...children.filter((child) => child !== "").map(Number));
    }
  return found;
}

/** Lists the targets of a process's open file descriptors: paths, and sockets and pipes with their inode numbers. */
export const readDescriptors = (pid: number | "self"): string[] =>
  readOrNothing(() => readdirSync(`/proc/${pid}/fd`)).flatMap((name) =>
    readOrNothing(() => [readlinkSync(`/proc/${pid}/fd/${name}`)]),
  );

/** Lists the local addresses, in the kernel's notation, on which the processes listen for TCP connections. */
export async function listListeners(pids: number[]): Promise<string[]> {
  const held = new Set(pids.flatMap((pid) => readDescriptors(pid)));
  return ["tcp", "tcp6"].flatMap((kind) =>
    readFileSync(`/proc/net/${kind}`, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === "0A" && held.has(`socket:[${inode}]`))
      .map(([, address = ""]) => address),
  );
}

/** Reads a list from `/proc`. Returns an empty list if the process has ended. */
function readOrNothing<Value>(read: () => Value[]): Value[] {
  try {
    return read();
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(String((error as NodeJS.ErrnoException).code))) return [];
    throw error;
  }
}
