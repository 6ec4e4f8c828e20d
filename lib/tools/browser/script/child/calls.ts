import { promises as files } from "node:fs";
import type { Frame, Page } from "playwright-core";
import { unlessBehindDialog } from "./behind-dialog.ts";
import { FILLING_CALL, unlessIgnored } from "./ignored-value.ts";
import { ownCalls } from "./own-calls.ts";
import { ACTS } from "./page-acts.ts";
import { readFile, sendToService } from "./parent.ts";
import { describePendingNavigation, hasSentInputSince, insist, unlessPending } from "./pending-navigation.ts";

/** The file name of the script in stack traces. */
export const SCRIPT_FILE = "script.js";
/** How many characters of a selector, an address or a key are sent to the service. */
const ACT_CHARS_MAX = 1_000;
/** How long to search for the cause of a failed action, in milliseconds. */
const EXPLAIN_MS_MAX = 1_000;

/** The internal object of Playwright's client that sends every call of its API. */
type Connection = {
  sendMessageToServer: (
    target: Target,
    method: string,
    params: Record<string, unknown>,
    options: CallOptions,
  ) => Promise<unknown>;
};
/** An object of Playwright's client, such as a frame. */
type Target = { _type?: string };
type CallOptions = {
  internal?: boolean;
  apiName?: string;
  /** In milliseconds; 0 for a call without a timeout. */
  timeout?: number;
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  frames?: { file: string; line: number; column: number }[];
};

/**
 * Reads the line and column in the script from the stack of an error. They are null if the stack does not contain the
 * script.
 */
export function readWhere(stack = ""): { line: number | null; column: number | null } {
  const [, line, column] = /script\.js:(\d+)(?::(\d+))?/.exec(stack) ?? [];
  return { line: line ? Number(line) : null, column: column ? Number(column) : null };
}

/**
 * Intercepts the script's Playwright calls: reports the start and end of each call to the service, adds the cause to
 * the error of a failed action, answers queries about elements that are gone, and reads files for uploads from the
 * workspace.
 */
export function watchCalls(page: Page): void {
  const { _connection: connection } = page as unknown as { _connection: Connection };
  const send = connection.sendMessageToServer.bind(connection);
  // Replaces `stat`, with which Playwright checks the path of an upload, because the file is in the workspace and not
  // on this process's disk.
  files.stat = (async () => ({ isDirectory: () => false, mtimeMs: 0 })) as unknown as typeof files.stat;
  let lastId = 0;

  connection.sendMessageToServer = async (target, method, params, options) => {
    if (options.internal || ownCalls.getStore() || method === "__waitInfo__")
      return send(target, method, params, options);
    const id = ++lastId;
    const act = findAct(method, params);
    sendToService({
      type: "call",
      id,
      name: String(options.apiName),
      ...findPosition(options),
      ...(act && { act }),
    });
    let isDone = false;
    const beganMs = performance.now();
    try {
      const sent = await withFiles(params);
      const play = (signal?: AbortSignal) => send(target, method, sent, withSignal(options, signal));
      const work = startWork(target, method, sent, play);
      const hasTimeout = (options.timeout ?? 0) > 0;
      const result = isOnDocument(target, method)
        ? await unlessPending(work, { beganMs, hasTimeout, isInput: INPUT_CALL.test(method) })
        : await work;
      isDone = true;
      return result;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const answer = answerForGone(error, method, params);
      if (answer) return answer;
      // A drag that failed halfway would stay in progress, with the button down.
      if (method === "dragAndDrop" && hasSentInputSince(beganMs))
        await ownCalls.run(true, () => (target as Frame).page().mouse.up()).catch(() => {});
      error.message = await ownCalls.run(true, () => explain(error.message, target, params));
      throw error;
    } finally {
      sendToService({ type: "called", id, isDone });
    }
  };
}

/**
 * Describes a call that does something to the page, without the values that it fills in. Undefined for any other call.
 */
function findAct(method: string, params: Record<string, unknown>) {
  if (!(method in ACTS)) return undefined;
  const { selector = params.source, url, key } = params;
  return {
    method,
    ...(typeof selector === "string" && { selector: selector.slice(0, ACT_CHARS_MAX) }),
    ...(method === "goto" && typeof url === "string" && { url: url.slice(0, ACT_CHARS_MAX) }),
    // A key of one character may be part of a value.
    ...(typeof key === "string" && key.length > 1 && { key: key.slice(0, ACT_CHARS_MAX) }),
  };
}

/** Starts a call of the script, with what Playwright does not do by itself. */
function startWork(
  target: Target,
  method: string,
  params: Record<string, unknown>,
  play: (signal?: AbortSignal) => Promise<unknown>,
): Promise<unknown> {
  if (method === "goto") return insist(String(params.url), play);
  const selector = params.selector ?? params.source;
  if (typeof selector !== "string" || !("locator" in target) || params.force === true) return play();
  // The cast is safe: only frames of Playwright's client have these calls and `locator`.
  const frame = target as Frame;
  const playInFront = () => unlessBehindDialog(frame, method, selector, play);
  return FILLING_CALL.test(method)
    ? unlessIgnored(frame, { ...params, selector }, playInFront)
    : playInFront();
}

const withSignal = (options: CallOptions, signal: AbortSignal | undefined): CallOptions =>
  signal === undefined
    ? options
    : { ...options, signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal };

/**
 * Where in the script a call is. Null if the stack does not tell: it contains only the functions that wait for the call
 * with `await`. A call that is chained (`page.setInputFiles(…).catch(…)`) may have no such function.
 */
function findPosition({ frames }: CallOptions): { line: number | null; column: number | null } {
  const own = frames?.find(({ file }) => file.endsWith(SCRIPT_FILE));
  return { line: own?.line ?? null, column: own?.column ?? null };
}

/** Whether Playwright sends the call to the document of a page. */
const isOnDocument = (target: Target, method: string) =>
  target._type === "Page"
    ? DEVICE_CALL.test(method)
    : ["Frame", "JSHandle", "ElementHandle"].includes(target._type ?? "") && method !== "waitForTimeout";

/** The calls of `page.keyboard`, `page.mouse` and `page.touchscreen`. */
const DEVICE_CALL = /^(keyboard|mouse|touchscreen)/;
/** The calls that send input to the page and return nothing. */
const INPUT_CALL = new RegExp(
  `${DEVICE_CALL.source}|^(click|dblclick|tap|press|type|fill|hover|check|uncheck|dragAndDrop)$`,
);

/** Replaces the paths of an upload with the contents of the workspace's files. */
async function withFiles(params: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { localPaths, ...others } = params;
  if (!Array.isArray(localPaths)) return params;
  const payloads = localPaths.map(async (path: string) => ({
    name: path.split("/").at(-1),
    buffer: await readFile(toGivenPath(path)),
  }));
  return { ...others, payloads: await Promise.all(payloads) };
}

/** Restores the relative path that the script gave. Playwright has resolved it against this process's working folder. */
function toGivenPath(path: string): string {
  const folder = process.cwd().replace(/\/?$/, "/");
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}

/**
 * Answers queries about an element that is gone: the element counts as hidden, and the number of matches is 0. Returns
 * undefined for any other error, and for a call that is not such a query.
 */
function answerForGone(error: Error, method: string, params: Record<string, unknown>): object | undefined {
  if (!/the element of ref \w+ is not in the page/.test(error.message)) return undefined;
  if (method === "waitForSelector" && (params.state === "hidden" || params.state === "detached")) return {};
  if (method === "isVisible") return { value: false };
  if (method === "isHidden") return { value: true };
  return method === "queryCount" ? { value: 0 } : undefined;
}

/** Returns the message without Playwright's log of retries, and with the cause of a timeout if it can be found. */
async function explain(message: string, target: object, params: Record<string, unknown>): Promise<string> {
  const [text = "", log = ""] = message.split(/\n*Call log:\n/);
  const summary = text
    .replace(/^Protocol error \([\w.]+\): /, "")
    // Removes the stack of an error inside the page, because it shows only Playwright's injected code.
    .replace(/\n\s+at .*/g, "")
    .trim();
  if (!/Timeout .*exceeded/.test(summary)) return summary;
  const pending = describePendingNavigation();
  if (pending !== undefined) return `${summary.replace(/\.$/, "")}: ${pending}`;
  // A drag has two elements. Playwright's log says what is in the way of which one.
  const cause =
    typeof params.selector === "string" && "locator" in target
      ? await findCause(target as Frame, params.selector, params.state).catch(() => undefined)
      : undefined;
  const reason = cause ?? readLog(log);
  return reason === undefined ? summary : `${summary.replace(/\.$/, "")}: ${reason}`;
}

async function findCause(frame: Frame, selector: string, state: unknown): Promise<string | undefined> {
  const found = frame.locator(selector);
  const count = await found.count();
  if (state === "hidden" || state === "detached") return `${count} matching elements are still there`;
  if (count === 0) return "no element matches";
  const options = { timeout: EXPLAIN_MS_MAX };
  const text = await found.first().locator("explain=all").textContent(options);
  return text || undefined;
}

/** Returns the last line of Playwright's log that is not about a retry or a wait, without colors and indentation. */
function readLog(log: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Playwright colours its log.
  const plain = log.replace(/\u001b\[\d+m/g, "");
  const lines = plain.split("\n").map((line) => line.replace(/^[\s-]*(\d+ × )?/, "").trim());
  const informative = lines.filter(
    (line) => line !== "" && !/^(retrying|waiting \d+ms|attempting)/.test(line),
  );
  return informative.at(-1)?.slice(0, 300);
}
