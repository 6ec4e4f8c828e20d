import { promises as files } from "node:fs";
import type { Frame, Page } from "playwright-core";
import { ask, tell } from "./parent.ts";

/** The file name that the lines of a script have in stacks. */
export const SCRIPT_FILE = "script.js";
/** Time for the cause of a failed action to be found, in milliseconds. */
const EXPLAIN_MS_MAX = 1_000;

/** The part of Playwright's client through which every call passes, and what it is given. */
type Connection = {
  sendMessageToServer: (
    target: object,
    method: string,
    params: Record<string, unknown>,
    options: CallOptions,
  ) => Promise<unknown>;
};
type CallOptions = {
  internal?: boolean;
  apiName?: string;
  frames?: { file: string; line: number; column: number }[];
};

/** The line and the column of a script in the stack of an error. */
export function readWhere(stack = ""): { line: number | null; column: number | null } {
  const [, line, column] = /script\.js:(\d+)(?::(\d+))?/.exec(stack) ?? [];
  return { line: line ? Number(line) : null, column: column ? Number(column) : null };
}

/**
 * Follows the script's calls: tells the service which ones are in progress, gives a failed action its cause, answers
 * questions about elements of refs that are gone, and reads the files of uploads from the session's workspace.
 */
export function watchCalls(page: Page): void {
  const { _connection: connection } = page as unknown as { _connection: Connection };
  const send = connection.sendMessageToServer.bind(connection);
  // Playwright asks what a path is before it sends it; the files are in the workspace, not in this process.
  files.stat = (async () => ({ isDirectory: () => false, mtimeMs: 0 })) as unknown as typeof files.stat;
  let lastId = 0;

  connection.sendMessageToServer = async (target, method, params, options) => {
    const own = options.frames?.find(({ file }) => file.endsWith(SCRIPT_FILE));
    if (options.internal || !own || method === "__waitInfo__") return send(target, method, params, options);
    const id = ++lastId;
    tell({ type: "call", id, name: String(options.apiName), line: own.line, column: own.column });
    try {
      return await send(target, method, await withFiles(params), options);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const answer = answerForGone(error, method, params);
      if (answer) return answer;
      error.message = await explain(error.message, target, params);
      throw error;
    } finally {
      tell({ type: "called", id });
    }
  };
}

/** Replaces the paths of an upload by the bytes of the workspace's files. */
async function withFiles(params: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { localPaths, ...others } = params;
  if (!Array.isArray(localPaths)) return params;
  const payloads = localPaths.map(async (path: string) => {
    const { name, base64 } = (await ask("readFile", [asGiven(path)])) as UploadedFile;
    return { name, buffer: Buffer.from(base64, "base64") };
  });
  return { ...others, payloads: await Promise.all(payloads) };
}

/** Playwright has made a relative path absolute, from this process's folder. */
function asGiven(path: string): string {
  const folder = process.cwd().replace(/\/?$/, "/");
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}

type UploadedFile = { name: string; base64: string };

/** An element that is gone is hidden, and counts as none. */
function answerForGone(error: Error, method: string, params: Record<string, unknown>): object | undefined {
  if (!/the element of ref \w+ is not in the page/.test(error.message)) return undefined;
  if (method === "waitForSelector" && (params.state === "hidden" || params.state === "detached")) return {};
  if (method === "isVisible") return { value: false };
  if (method === "isHidden") return { value: true };
  return method === "queryCount" ? { value: 0 } : undefined;
}

/** The message without Playwright's log of retries, and with the cause of a timeout where the page tells it. */
async function explain(message: string, target: object, params: Record<string, unknown>): Promise<string> {
  const [told = "", log = ""] = message.split(/\n*Call log:\n/);
  const said = told
    .replace(/^Protocol error \([\w.]+\): /, "")
    // Of an error inside the page, the stack shows code that neither the script nor the page has written.
    .replace(/\n\s+at .*/g, "")
    .trim();
  if (!/Timeout .*exceeded/.test(said)) return said;
  const cause =
    typeof params.selector === "string" && "locator" in target
      ? await findCause(target as Frame, params.selector, params.state).catch(() => undefined)
      : undefined;
  const text = cause ?? readLog(log);
  return text === undefined ? said : `${said.replace(/\.$/, "")}: ${text}`;
}

async function findCause(frame: Frame, selector: string, state: unknown): Promise<string | undefined> {
  const found = frame.locator(selector);
  const count = await found.count();
  if (state === "hidden" || state === "detached") return `${count} matching elements are still there`;
  if (count === 0) return "no element matches";
  const options = { timeout: EXPLAIN_MS_MAX };
  const text = await found.first().locator("explain=1").textContent(options);
  return text || undefined;
}

/** The last thing that Playwright's log tells of the page, without its markup. */
function readLog(log: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Playwright colours its log.
  const plain = log.replace(/\u001b\[\d+m/g, "");
  const lines = plain.split("\n").map((line) => line.replace(/^[\s-]*(\d+ × )?/, "").trim());
  const told = lines.filter((line) => line !== "" && !/^(retrying|waiting \d+ms|attempting)/.test(line));
  return told.at(-1)?.slice(0, 300);
}
