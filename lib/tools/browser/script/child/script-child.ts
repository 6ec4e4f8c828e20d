/**
 * The entry file of the child process that runs one script of the agent. The process starts before it gets the script,
 * and ends after the script. It exchanges JSON lines with the service over stdin and stdout, which is its only way to
 * reach the session's page. Of the project's files, bubblewrap shows the process only this folder, `package.json` and
 * playwright-core. So the files of this folder must not import other files of the project, except types.
 */

import { Socket as DatagramSocket } from "node:dgram";
import { Server, Socket } from "node:net";
import { Script } from "node:vm";
import {
  type BrowserContext,
  type ConnectOverCDPTransport,
  chromium,
  type Page,
  selectors,
} from "playwright-core";
import type { ToChild } from "../script-protocol.ts";
import { readWhere, SCRIPT_FILE, watchCalls } from "./calls.ts";
import { reportDialogListeners } from "./dialog-listeners.ts";
import { announceDownloads } from "./downloads.ts";
import { ask, listen, readMessages, sendToService } from "./parent.ts";
import { followPendingNavigation, recordInput } from "./pending-navigation.ts";
import { giveRefs } from "./refs.ts";
import { createConsole, encodeValue } from "./values.ts";

const OWN_NAMES = ["page", "context", "console"] as const;
/**
 * Node's globals that are undefined in a script. A script that uses one fails with an error that the service explains.
 */
const SHADOWED_NAMES = ["process", "require", "module", "exports", "fetch", "WebSocket", "global"] as const;
/**
 * How long to wait, before the script starts, for Playwright to connect to the other tabs. After this time, the script
 * starts without the tabs that hang.
 */
const TABS_MS_MAX = 1_000;

// Blocks Node's functions for sockets and signals, which Node's permission model does not cover. The block is needed
// where no namespace isolates the network and the processes.
const denyAccess = (what: string) => () => {
  throw new Error(`Scripts have no ${what} of their own; work through the page.`);
};
for (const name of ["connect", "bind", "send"] as const)
  DatagramSocket.prototype[name] = denyAccess("network");
Socket.prototype.connect = denyAccess("network");
Server.prototype.listen = denyAccess("network");
for (const name of ["kill", "_kill", "_debugProcess", "_debugEnd"])
  Object.defineProperty(process, name, { value: denyAccess("processes") });

const fail = (error: unknown) => sendToService({ type: "done", ok: false, ...describeError(error) });
process.on("unhandledRejection", fail);
process.on("uncaughtException", fail);
listen("run", (run) => {
  play(run).then(
    (value) => sendToService({ type: "done", ok: true, ...encodeValue(value, run.resultCharsMax) }),
    fail,
  );
});
followPendingNavigation();
readMessages();
sendToService({ type: "ready" });

async function play(run: Extract<ToChild, { type: "run" }>): Promise<unknown> {
  const names = [...OWN_NAMES, ...SHADOWED_NAMES].join(", ");
  // Compiles the script before connecting to the page, so that a script with a syntax error has no effect.
  const compiled = new Script(`(async (${names}) => {\n${run.script}\n})`, {
    filename: SCRIPT_FILE,
    lineOffset: -1,
  }).runInThisContext() as (...values: unknown[]) => Promise<unknown>;
  const { context, page } = await connect();
  await selectors.register("ref", { content: run.refSource }, { contentScript: true });
  await selectors.register("explain", { content: run.explainSource }, { contentScript: true });
  await waitForTabs(context);
  context.setDefaultTimeout(run.actionTimeoutMs);
  context.setDefaultNavigationTimeout(run.actionTimeoutMs);
  reportDialogListeners(context);
  announceDownloads(context);
  keepBrowser(context);
  keepLastPage(context);
  giveRefs(context, run.frames);
  watchCalls(page);
  for (const name of run.helpers) Object.assign(page, { [name]: (...args: unknown[]) => ask(name, args) });
  return compiled(page, context, createConsole(run.logCharsMax));
}

/** Connects Playwright to the session's current page. The other tabs follow, see `waitForTabs`. */
async function connect(): Promise<{ context: BrowserContext; page: Page }> {
  const transport: ConnectOverCDPTransport = {
    send(message) {
      recordInput(message);
      sendToService({ type: "devtools", message });
    },
    close: () => {},
  };
  // Playwright expects each message in a separate task. Otherwise it misses execution contexts that are announced early.
  listen("devtools", (message) => setImmediate(() => transport.onmessage?.(message)));
  const browser = await chromium.connectOverCDP(transport, {
    noDefaults: true,
    artifactsDir: "/nonexistent",
  });
  const context = browser.contexts()[0];
  const page = context?.pages()[0];
  if (!context || !page) throw new Error("The session's page is gone.");
  return { context, page };
}

/** Waits until Playwright has connected to the session's other tabs. */
async function waitForTabs(context: BrowserContext): Promise<void> {
  const count = await new Promise<number>((resolve) => {
    listen("pages", resolve);
    sendToService({ type: "connected" });
  });
  const untilMs = performance.now() + TABS_MS_MAX;
  while (context.pages().length < count && performance.now() < untilMs)
    await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Refuses to close the browser. If only the service refused, Playwright would wait forever for the browser to close. */
function keepBrowser(context: BrowserContext): void {
  const refuse = async () => {
    throw new Error("The browser belongs to the session; a script cannot close it.");
  };
  context.close = refuse;
  const browser = context.browser();
  if (browser) browser.close = refuse;
}

/** Refuses to close the last page. If only the service refused, Playwright would wait forever for the page to close. */
function keepLastPage(context: BrowserContext): void {
  const keep = (page: Page) => {
    const close = page.close.bind(page);
    page.close = async (options) => {
      if (context.pages().length === 1)
        throw new Error("This is the last page of the session; it stays open.");
      return close(options);
    };
  };
  for (const page of context.pages()) keep(page);
  context.on("page", keep);
}

function describeError(error: unknown): { error: string; line: number | null; column: number | null } {
  if (!(error instanceof Error)) return { error: String(error).slice(0, 4_000), line: null, column: null };
  return { error: `${error.name}: ${error.message}`.slice(0, 4_000), ...readWhere(error.stack) };
}
