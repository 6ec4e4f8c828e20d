import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright";
import type { HostBrowsers, LiveBrowser, ScriptPointer } from "#lib/browser/browser-service.ts";
import { createOverlayGate, type OverlayGate } from "#lib/browser/overlay/overlay-gate.ts";
import { followMainFrame } from "#lib/browser/page/main-frame.ts";
import { openFreshContext } from "#lib/browser/page/open-fresh-context.ts";
import { watchActivity } from "#lib/browser/page/page-activity.ts";
import { watchDialogs } from "#lib/browser/page/page-dialogs.ts";
import { watchDocuments } from "#lib/browser/page/pending-documents.ts";
import { openDevtoolsAt } from "#lib/browser/process/devtools-socket.ts";
import { createListenerGuard } from "#lib/browser/process/listener-guard.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { createHostControl } from "#lib/browser/view/host-control.ts";
import type { EvidencePointer } from "#lib/events/event.ts";
import type { EvidenceStore, NewEvidence } from "#lib/evidence/evidence.ts";
import type { SandboxService, Workspace } from "#lib/sandbox/sandbox-service.ts";
import { WorkspaceError } from "#lib/sandbox/workspace-error.ts";
import type { ToolCall, ToolResult } from "../tool.ts";
import type { HostServices, VariantView } from "./host-services.ts";
import { createPageTurns } from "./page-turns.ts";
import { createSnapshotBook } from "./read/snapshot-book.ts";
import type { ScriptRunner } from "./script/script-runner.ts";
import { workspaceFiles } from "./script/workspace-files.ts";

/** A real Chromium with one page, behind the interfaces that the tools use. */
export type TestBrowser = {
  live: LiveBrowser;
  service: HostBrowsers;
  touched: string[];
  /** The pointer events that scripts reported; `undefined` for other input. */
  pointers: (ScriptPointer | undefined)[];
  /** Shows and hides an overlay that a test installs. */
  overlayGate: OverlayGate;
  close: () => Promise<void>;
};

/** Fails the test run with an error in a listener. */
export const failingGuard = createListenerGuard((error) => {
  throw error;
});

/** Starts Chromium on loopback and opens one page of 1280×720. */
export async function startTestBrowser(): Promise<TestBrowser> {
  const { child, profile } = spawnTestChromium();
  const devtoolsUrl = await readDevtoolsUrl(child);
  const devtools = await openDevtoolsAt(devtoolsUrl);
  const browser = await chromium.connectOverCDP(devtools.playwright);
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const { targetInfo } = await session.send("Target.getTargetInfo");
  const events = { onDocument() {}, onArrived() {}, onLoaded() {} };
  const mainFrame = await followMainFrame(session, failingGuard, events);
  await session.send("Page.enable");
  const pointers: (ScriptPointer | undefined)[] = [];
  const overlayGate = createOverlayGate();
  const activity = watchActivity(context, failingGuard);
  const dialogs = watchDialogs(context, failingGuard, (dialog) => activity.add({ kind: "dialog", dialog }));
  const live: LiveBrowser = {
    sessionId: "session_test",
    browser,
    context,
    page: () => page,
    cdp: async () => session,
    openDevtools: devtools.open,
    targetId: async () => targetInfo.targetId,
    shownDocument: mainFrame.shown,
    noteScriptInput: (pointer) => void pointers.push(pointer),
    async hideOverlay(reason) {
      const { removals, restore } = overlayGate.hide(reason);
      await Promise.all(removals.values());
      return restore;
    },
    firstRef: 1,
    claimDialogs: dialogs.claim,
    activity,
    documents: watchDocuments(context, failingGuard),
    hasWorkspace: true,
    pendingDownloads: () => 0,
    openingPages: () => 0,
    select() {},
    readRefusal: () => undefined,
    openContext: (options) =>
      openFreshContext(
        {
          guard: failingGuard,
          process: {
            newContext: (context) => browser.newContext({ ...context, acceptDownloads: false }),
            isGuarded: true,
            findRefusal: () => undefined,
          },
          egress: { refuse: async () => undefined, resolve: async () => [] },
        },
        options,
      ),
    isOpen: () => browser.isConnected(),
  };
  const touched: string[] = [];
  return {
    live,
    service: createTestService(live, touched),
    touched,
    pointers,
    overlayGate,
    async close() {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await exited;
      await browser.close().catch(() => {});
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function spawnTestChromium(): { child: ChildProcess; profile: string } {
  const profile = mkdtempSync(join(tmpdir(), "browser-tools-"));
  const { executablePath, args = [], env = {} } = findTestChromium();
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(profile, 65534, 65534);
  const flags = [
    "--headless",
    "--remote-debugging-port=0",
    `--user-data-dir=${profile}`,
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--site-per-process",
    // With the flag above, Chromium keeps a spare renderer, which takes a quarter of the CPU time of a page load.
    "--disable-features=SpareRendererForSitePerProcess",
    "--no-sandbox",
  ];
  const child = spawn(executablePath, [...args, ...flags, "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...env, HOME: profile },
    ...(isRoot ? { uid: 65534, gid: 65534 } : {}),
  });
  return { child, profile };
}

function createTestService(live: LiveBrowser, touched: string[]): HostBrowsers {
  const refuse = () => Promise.reject(new Error("not part of this fixture"));
  return {
    goTo: refuse,
    readLastError: async () => null,
    findElements: async () => null,
    locateTarget: async () => null,
    captureBoxes: async () => null,
    takeRestartNote: () => undefined,
    takeViewportNote: () => undefined,
    listLive: () => [],
    listUp: () => [],
    ensure: async () => live,
    hold: async () => () => {},
    settle: async () => {},
    warmUp() {},
    lease: refuse,
    open: refuse,
    navigate: refuse,
    history: refuse,
    refreshPageScripts: refuse,
    touch: (sessionId) => void touched.push(sessionId),
    watch: () => () => {},
    input: refuse,
    copy: refuse,
    paste: refuse,
    setViewport: refuse,
    act: refuse,
    readCursor: refuse,
    readField: refuse,
    addressOf: () => null,
    reapIdle: refuse,
    closeSession: refuse,
    describe: () => ({ available: true, live: 1, detail: "a test's own Chromium" }),
    close: refuse,
  };
}

function readDevtoolsUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stderr?.on("data", (chunk) => {
      text += chunk;
      const url = text.match(/ws:\/\/\S+/)?.[0];
      if (url) resolve(url);
    });
    child.once("exit", () => reject(new Error(`Chromium ended: ${text.slice(0, 500)}`)));
  });
}

/** Starts a site on loopback. @param pages the pages by path. */
export async function startSite(
  pages: Record<string, string | { headers: Record<string, string>; body: string }>,
) {
  const listener: RequestListener = (request, response) => {
    const page = pages[new URL(request.url ?? "/", "http://site").pathname];
    const { headers, body } =
      typeof page === "string" ? { headers: {}, body: page } : (page ?? { headers: {}, body: "" });
    response.writeHead(page === undefined ? 404 : 200, {
      "content-type": "text/html; charset=utf-8",
      ...headers,
    });
    response.end(body);
  };
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Creates the control of a host. No person has control until a test takes it. */
export const createTestControl = () =>
  createHostControl({
    hostId: "bh_test",
    browsers: () => undefined,
    onChange() {},
    emit: async () => {},
    isHandedOver: async () => false,
    handoverPages: () => undefined,
    logger: { debug() {} },
  });

/** Creates an evidence store that collects the saved evidence in `saved`. */
export function createEvidenceMemory(): EvidenceStore & { saved: (NewEvidence & EvidencePointer)[] } {
  const saved: (NewEvidence & EvidencePointer)[] = [];
  return {
    saved,
    async save(evidence) {
      const pointer = {
        id: `evidence_${saved.length + 1}`,
        kind: evidence.kind,
        title: evidence.title,
        url: evidence.url,
        mediaType: evidence.mediaType,
      };
      saved.push({ ...evidence, ...pointer });
      return pointer;
    },
    listNewest: async () => ({ total: 0, evidence: [] }),
    discard: async () => {},
    list: async () => [],
    read: async () => undefined,
  };
}

/** Creates the context of a tool call that belongs to a turn. */
export const callOf = (
  signal: AbortSignal = new AbortController().signal,
  sessionId = "session_test",
): ToolCall => ({
  sessionId,
  browserSessionId: sessionId,
  rootSessionId: sessionId,
  requestId: "request_test",
  runId: "run_test",
  callId: "call_test",
  mayAskPeople: true,
  hasTool: () => true,
  signal,
});

/** Creates the host services of a test. Without `scripts`, scripts must not be run. */
export const createTestHost = (
  given: Pick<HostServices, "browser"> & Partial<HostServices>,
): HostServices => ({
  control: createTestControl(),
  pageTurns: createPageTurns(),
  scripts: NO_SCRIPTS,
  files: workspaceFiles(createTestSandbox()),
  evidence: createEvidenceMemory(),
  snapshots: createSnapshotBook(),
  recorder: { note: async () => {} },
  scriptHelpers: () => ({}),
  variants: NO_VARIANTS,
  ...given,
});

const NO_SCRIPTS: ScriptRunner = {
  refusal: "not part of this fixture",
  run: () => Promise.reject(new Error("not part of this fixture")),
  describe: () => ({ kind: "none", detail: "" }),
  close: async () => {},
};

/** A `VariantView` that rejects every call, for tests without variants. */
export const NO_VARIANTS: VariantView = {
  show: () => Promise.reject(new Error("not part of this fixture")),
};

/** Returns the text of a tool result. Any part that is not text appears as `[image <evidence id>]`. */
export const textOf = (result: ToolResult): string =>
  result.content.map((part) => (part.type === "text" ? part.text : `[image ${part.evidence.id}]`)).join("\n");

/** Creates a sandbox in memory. All sessions share its one workspace. */
export function createTestSandbox(): SandboxService & { files: Map<string, Uint8Array> } {
  const files = new Map<string, Uint8Array>();
  const refuse = () => Promise.reject(new Error("not part of this fixture"));
  const workspace: Workspace = {
    async readFile(path, limitBytes) {
      const bytes = files.get(path);
      if (!bytes) throw new WorkspaceError(`path: there is no ${path}`);
      return { bytes: bytes.subarray(0, limitBytes), totalBytes: bytes.length };
    },
    readPart: refuse,
    remove: refuse,
    async writeFile(path, bytes) {
      files.set(path, bytes);
      return { sizeBytes: bytes.length, modifiedAtMs: 0, version: "" };
    },
    list: async (folder) =>
      [...files].flatMap(([path, bytes]) =>
        path.startsWith(`${folder}/`) ? [{ path, type: "file" as const, sizeBytes: bytes.length }] : [],
      ),
    run: refuse,
    runProgram: refuse,
    runTests: refuse,
  };
  return {
    files,
    open: async () => workspace,
    describe: () => ({
      kind: "memory",
      canRunCommands: false,
      detail: "a test's own files",
      isolation: "none",
    }),
    remove: async () => {},
    close: async () => {},
  };
}
