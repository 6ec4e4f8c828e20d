/**
 * The child process in which one script of the agent runs: started before the script arrives, ended after it. It exchanges
 * JSON lines over stdin and stdout, which are its only way to the session's page. It is mounted alone, next to
 * playwright-core, so it imports only types of this project.
 */

import { Socket as DatagramSocket } from "node:dgram";
import type { EventEmitter } from "node:events";
import { Server, Socket } from "node:net";
import { inspect } from "node:util";
import { Script } from "node:vm";
import {
  type BrowserContext,
  type ConnectOverCDPTransport,
  chromium,
  type Locator,
  type Page,
  selectors,
} from "playwright-core";
import type { FromChild, ToChild } from "./script-protocol.ts";

const OWN_NAMES = ["page", "context", "console"] as const;
/** Names of Node that are shadowed, so that a script that uses them gets a clear error. */
const SHADOWED_NAMES = ["process", "require", "module", "exports", "fetch", "WebSocket", "global"] as const;
const FILE_NAME = "script.js";
const LISTENER_METHODS = [
  "on",
  "once",
  "addListener",
  "prependListener",
  "off",
  "removeListener",
  "removeAllListeners",
] as const;

const write = process.stdout.write.bind(process.stdout);
const tell = (message: FromChild) => write(`${JSON.stringify(message)}\n`);

const listeners = {
  devtools: (_message: object) => {},
  run: (_run: Extract<ToChild, { type: "run" }>) => {},
};
const helperCalls = new Map<number, (answer: Extract<ToChild, { type: "helper" }>) => void>();

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

readLines((line) => {
  const message = JSON.parse(line) as ToChild;
  if (message.type === "devtools") listeners.devtools(message.message);
  else if (message.type === "helper") helperCalls.get(message.id)?.(message);
  else listeners.run(message);
});
listeners.run = (run) => {
  play(run).then(
    (value) => tell({ type: "done", ok: true, ...encodeValue(value, run.resultCharsMax) }),
    (error) => tell({ type: "done", ok: false, ...describeError(error) }),
  );
};
process.on("unhandledRejection", (error) => tell({ type: "done", ok: false, ...describeError(error) }));
process.on("uncaughtException", (error) => tell({ type: "done", ok: false, ...describeError(error) }));
tell({ type: "ready" });

async function play(run: Extract<ToChild, { type: "run" }>): Promise<unknown> {
  const names = [...OWN_NAMES, ...SHADOWED_NAMES].join(", ");
  // Compiled before the page is used, so that a script with a syntax error has no effect.
  const compiled = new Script(`(async (${names}) => {\n${run.script}\n})`, {
    filename: FILE_NAME,
    lineOffset: -1,
  }).runInThisContext() as (...values: unknown[]) => Promise<unknown>;
  const transport: ConnectOverCDPTransport = {
    send: (message) => tell({ type: "devtools", message }),
    close: () => {},
  };
  // Playwright expects every message in a task of its own: in one task it would miss contexts that are announced early.
  listeners.devtools = (message) => setImmediate(() => transport.onmessage?.(message));
  const browser = await chromium.connectOverCDP(transport, {
    noDefaults: true,
    artifactsDir: "/nonexistent",
  });
  const context = browser.contexts()[0];
  const page = context?.pages()[0];
  if (!context || !page) throw new Error("The session's page is gone.");
  page.close = async () => {
    throw new Error("The page belongs to the session; a script cannot close it.");
  };
  await selectors.register("ref", findByRef, { contentScript: true });
  context.setDefaultTimeout(run.actionTimeoutMs);
  context.setDefaultNavigationTimeout(run.actionTimeoutMs);
  reportDialogListeners(context);
  giveRefs(context, run.frames);
  for (const name of run.helpers)
    Object.assign(page, { [name]: (...args: unknown[]) => callHelper(name, args) });
  return compiled(page, context, createConsole(run.logCharsMax));
}

/**
 * Playwright's selector engine for refs. It is sent into the page as source, so it uses nothing from outside its own body;
 * the service puts the elements into that world, see `installRef`.
 */
function findByRef() {
  const find = (ref: string): Element[] => {
    const { agentSessionRefs } = globalThis as { agentSessionRefs?: Map<string, Element> };
    const element = agentSessionRefs?.get(ref);
    // Waiting would be in vain: a ref names one element, which does not come back.
    if (!element?.isConnected) throw new Error(`the element of ref ${ref} is not in the page`);
    return [element];
  };
  return {
    query: (_root: unknown, ref: string) => find(ref)[0],
    queryAll: (_root: unknown, ref: string) => find(ref),
  };
}

/** Gives every page `ref("e7")`, the locator of the element that a snapshot shows with that ref. */
function giveRefs(context: BrowserContext, frames: Record<string, string[]>): void {
  const give = (page: Page) => {
    const refOf = (ref: unknown) => locateRef(page, frames, String(ref));
    const locator = page.locator.bind(page);
    Object.assign(page, {
      ref: refOf,
      locator(selector: string, options?: Parameters<Page["locator"]>[1]) {
        const ref = typeof selector === "string" ? /^(?:aria-)?ref=(\w+)$/.exec(selector)?.[1] : undefined;
        return ref === undefined ? locator(selector, options) : refOf(ref);
      },
    });
  };
  for (const page of context.pages()) give(page);
  context.on("page", give);
}

function locateRef(page: Page, frames: Record<string, string[]>, ref: string): Locator {
  const frame = /^(f\d+)?e\d+$/.exec(ref);
  if (!frame) throw new Error(`"${ref}" is no ref; refs look like e7 or f1e7, and dom_query gives them`);
  const owners = frame[1] === undefined ? [] : frames[frame[1]];
  if (!owners) throw new Error(`the element of ref ${ref} is not in the page: its frame is gone`);
  const withRef = (scope: Pick<Page, "locator">, one: string) => {
    tell({ type: "ref", ref: one });
    return scope.locator(`ref=${one} >> nth=0`);
  };
  let scope: Pick<Page, "locator"> = page;
  for (const owner of owners) scope = withRef(scope, owner).contentFrame();
  return withRef(scope, ref);
}

/**
 * Tells the service whether the script listens for dialogs, before the next thing that the script does: the service
 * leaves dialogs to a script that listens, and answers all others itself.
 */
function reportDialogListeners(context: BrowserContext): void {
  // Playwright would answer a dialog that has no listener, and race with the service.
  context.on("dialog", () => {});
  const own = count(context);
  let isListening = false;
  const report = () => {
    const isNow = count(context) > own || context.pages().some((page) => count(page) > 0);
    if (isNow !== isListening) tell({ type: "dialogs", isListening: isNow });
    isListening = isNow;
  };
  watchListeners(context, report);
  for (const page of context.pages()) watchListeners(page, report);
  context.on("page", (page) => watchListeners(page, report));
}

// Playwright's types leave out that its objects are event emitters.
const emitterOf = (source: BrowserContext | Page) => source as unknown as EventEmitter;
const count = (source: BrowserContext | Page) => emitterOf(source).listenerCount("dialog");

/** Calls back after each change of an emitter's listeners. */
function watchListeners(source: BrowserContext | Page, onChange: () => void): void {
  const emitter = emitterOf(source);
  for (const name of LISTENER_METHODS) {
    const change = emitter[name].bind(emitter) as (...args: unknown[]) => unknown;
    Object.assign(emitter, {
      [name](...args: unknown[]) {
        const result = change(...args);
        onChange();
        return result;
      },
    });
  }
}

let lastHelperCall = 0;
function callHelper(name: string, args: unknown[]): Promise<unknown> {
  const id = ++lastHelperCall;
  return new Promise((resolve, reject) => {
    helperCalls.set(id, (answer) => {
      helperCalls.delete(id);
      if (answer.ok) resolve(answer.value);
      else reject(new Error(answer.error));
    });
    tell({ type: "helper", id, name, args });
  });
}

function createConsole(charsMax: number) {
  let charsLeft = charsMax;
  const log = (...values: unknown[]) => {
    if (charsLeft <= 0) return;
    const text = values
      .map((value) =>
        typeof value === "string" ? value : inspect(value, { depth: 4, maxStringLength: 2_000 }),
      )
      .join(" ");
    tell({ type: "log", text: text.length > charsLeft ? `${text.slice(0, charsLeft)}… (cut)` : text });
    charsLeft -= text.length + 1;
  };
  return { log, info: log, warn: log, error: log, debug: log, table: log, dir: log, trace: log };
}

/** The value as JSON text, cut where it is too long. Bytes and handles are named instead of spelt out. */
function encodeValue(value: unknown, charsMax: number): { json: string; cutFrom: number | null } {
  const seen: object[] = [];
  const json =
    JSON.stringify(value ?? null, function (this: unknown, _key, item: unknown) {
      if (typeof item === "bigint") return `${item}n`;
      if (typeof item === "function") return "[function]";
      if (typeof item !== "object" || item === null) return item;
      if ("type" in item && item.type === "Buffer" && "data" in item && Array.isArray(item.data)) {
        return `[${item.data.length} bytes]`;
      }
      if (ArrayBuffer.isView(item)) return `[${item.byteLength} bytes]`;
      if (item instanceof Map || item instanceof Set) return [...item];
      if (item instanceof Error) return `${item.name}: ${item.message}`;
      // Playwright's own objects name themselves: locator('h1'), JSHandle@node …
      if ("_apiName" in item || "_guid" in item) return String(item);
      while (seen.length > 0 && seen.at(-1) !== this) seen.pop();
      if (seen.includes(item)) return "[circular]";
      seen.push(item);
      return item;
    }) ?? "null";
  return json.length > charsMax
    ? { json: JSON.stringify(json.slice(0, charsMax)), cutFrom: json.length }
    : { json, cutFrom: null };
}

function describeError(error: unknown): { error: string; line: number | null } {
  if (!(error instanceof Error)) return { error: String(error).slice(0, 4_000), line: null };
  const line = error.stack?.match(/script\.js:(\d+)/)?.[1];
  return { error: `${error.name}: ${error.message}`.slice(0, 4_000), line: line ? Number(line) : null };
}

function readLines(onLine: (line: string) => void): void {
  let pending: Buffer[] = [];
  process.stdin.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      pending.push(chunk.subarray(start, end));
      onLine(Buffer.concat(pending).toString());
      pending = [];
      start = end + 1;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  });
  process.stdin.on("end", () => process.exit(0));
}
