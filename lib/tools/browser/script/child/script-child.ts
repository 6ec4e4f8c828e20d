/**
 * The child process in which one script of the agent runs: started before the script arrives, ended after it. It exchanges
 * JSON lines over stdin and stdout, which are its only way to the session's page. Its folder is mounted alone, next to
 * playwright-core, so its files import only each other, and types of this project.
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
import { ask, listen, readMessages, tell } from "./parent.ts";
import { findByRef, giveRefs } from "./refs.ts";
import { createConsole, encodeValue } from "./values.ts";

const OWN_NAMES = ["page", "context", "console"] as const;
/** Names of Node that are shadowed, so that a script that uses them gets a clear error. */
const SHADOWED_NAMES = ["process", "require", "module", "exports", "fetch", "WebSocket", "global"] as const;
/** How long the script's start waits for the other tabs: one that hangs is left out. */
const TABS_MS_MAX = 1_000;

// Without a namespace that blocks the network and other processes, this blocks at least Node's own functions for them:
// its permission model covers neither sockets nor signals.
const closed = (what: string) => () => {
  throw new Error(`Scripts have no ${what} of their own; work through the page.`);
};
for (const name of ["connect", "bind", "send"] as const) DatagramSocket.prototype[name] = closed("network");
Socket.prototype.connect = closed("network");
Server.prototype.listen = closed("network");
for (const name of ["kill", "_kill", "_debugProcess", "_debugEnd"])
  Object.defineProperty(process, name, { value: closed("processes") });

const fail = (error: unknown) => tell({ type: "done", ok: false, ...describeError(error) });
process.on("unhandledRejection", fail);
process.on("uncaughtException", fail);
listen("run", (run) => {
  play(run).then(
    (value) => tell({ type: "done", ok: true, ...encodeValue(value, run.resultCharsMax) }),
    fail,
  );
});
readMessages();
tell({ type: "ready" });

async function play(run: Extract<ToChild, { type: "run" }>): Promise<unknown> {
  const names = [...OWN_NAMES, ...SHADOWED_NAMES].join(", ");
  // Compiled before the page is used, so that a script with a syntax error has no effect.
  const compiled = new Script(`(async (${names}) => {\n${run.script}\n})`, {
    filename: SCRIPT_FILE,
    lineOffset: -1,
  }).runInThisContext() as (...values: unknown[]) => Promise<unknown>;
  const { context, page } = await connect();
  await selectors.register("ref", findByRef, { contentScript: true });
  await selectors.register("explain", { content: run.explainSource }, { contentScript: true });
  await untilTabsAreKnown(context);
  context.setDefaultTimeout(run.actionTimeoutMs);
  context.setDefaultNavigationTimeout(run.actionTimeoutMs);
  reportDialogListeners(context);
  announceDownloads(context);
  keepLastPage(context);
  giveRefs(context, run.frames);
  watchCalls(page);
  for (const name of run.helpers) Object.assign(page, { [name]: (...args: unknown[]) => ask(name, args) });
  return compiled(page, context, createConsole(run.logCharsMax));
}

/** Connects to the session's current page; the other tabs follow. */
async function connect(): Promise<{ context: BrowserContext; page: Page }> {
  const transport: ConnectOverCDPTransport = {
    send: (message) => tell({ type: "devtools", message }),
    close: () => {},
  };
  // Playwright expects every message in a task of its own: in one task it would miss contexts that are announced early.
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

async function untilTabsAreKnown(context: BrowserContext): Promise<void> {
  const count = await new Promise<number>((resolve) => {
    listen("pages", resolve);
    tell({ type: "connected" });
  });
  const untilMs = Date.now() + TABS_MS_MAX;
  while (context.pages().length < count && Date.now() < untilMs)
    await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A refusal of the service would leave Playwright waiting for the page to close. */
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
