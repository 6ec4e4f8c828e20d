import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "#db/client.ts";
import { openTestDatabase } from "#db/testing.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import { createBrowserService } from "#lib/browser/create-browser-service.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { createMemoryBus, type EventBus } from "#lib/events/bus/bus.ts";
import { createEventLog, type EventLog } from "#lib/events/event-log.ts";
import type { Logger } from "#lib/log/logger.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import { workspaceFiles } from "#lib/tools/browser/script/workspace-files.ts";
import {
  callOf,
  createEvidenceMemory,
  createTestControl,
  createTestSandbox,
} from "#lib/tools/browser/test-fixture.ts";
import type { ToolCall, ToolResult } from "#lib/tools/tool.ts";
import {
  type OpenBrowsersDeps,
  type OpenedBrowsers,
  openHostedBrowsers,
} from "./service/open-hosted-browsers.ts";

/** One process of the service, as far as it uses browsers. Several share a database and a data folder. */
export type TestProcess = OpenedBrowsers & {
  service: BrowserService;
  control: ReturnType<typeof createTestControl>;
  warnings: string[];
  /** Runs a tool of the agent. @returns the text for the model. */
  use: (
    sessionId: string,
    name: string,
    input: object,
    call?: Partial<ToolCall & { epoch: number }>,
  ) => Promise<string>;
};

/** What the processes of a test share. */
export type TestHosts = {
  db: Database;
  log: EventLog;
  dataDir: string;
  open: (over?: Partial<OpenBrowsersDeps["local"]>) => Promise<TestProcess>;
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
  const sealer = createSealer(new Uint8Array(32).fill(7));

  async function open(over: Partial<OpenBrowsersDeps["local"]> = {}): Promise<TestProcess> {
    const warnings: string[] = [];
    const logger: Logger = {
      debug() {},
      info() {},
      warn: (_, text) => warnings.push(text),
      error: (_, text) => warnings.push(text),
    };
    const control = createTestControl();
    const opened = await openHostedBrowsers({
      db,
      log,
      logger,
      bus,
      sealer,
      control,
      evidence: createEvidenceMemory(),
      files: workspaceFiles(createTestSandbox()),
      variantScripts: { readRevision: async () => "", readShown: async () => "" },
      onRequestRefused() {},
      onAnnotation: async () => ({ isStored: true }),
      readPageScript: async () => ({ onDocumentStart: null, inFreshContexts: null, immediate: "" }),
      storeDownload: async (_session, name) => `downloads/${name}`,
      settings: {
        allow,
        ownOrigin: { origin: "http://127.0.0.1:1", publicOrigins: [] },
        idleMs: 600_000,
        waitMs: 60_000,
        keepSpare: false,
        scriptOrigin: "http://127.0.0.1:1",
      },
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
    open,
    async close() {
      await Promise.all(processes.map((each) => each.close(true)));
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const toText = ({ content }: ToolResult): string =>
  content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");

/** Returns the id of the process that listens at a loopback URL. */
export function findListener(url: string): number {
  const { port } = new URL(url);
  const text = execFileSync("ss", ["-ltnpH", `sport = :${port}`], { encoding: "utf8" });
  return Number(/pid=(\d+)/.exec(text)?.[1]);
}
