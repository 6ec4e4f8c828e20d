import { errorText } from "#lib/text/error-text.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { ScriptProcess } from "./script-process.ts";
import type { FromChild } from "./script-protocol.ts";
import type { ScriptFiles, ScriptHelper } from "./script-types.ts";

/** How many calls of a script are worked on at once. The script's further messages wait in its pipe. */
const CALLS_MAX = 2;
/** Bytes that all calls of a script may return or copy. A script that has used them up gets errors. */
const CALL_BYTES_MAX = 256 * 2 ** 20;
/** Largest file that a script can read, for an upload or from a download. */
const READ_BYTES_MAX = 20 * 2 ** 20;
/** Largest file that a script can copy, which is the largest file that a page can download. */
const COPY_BYTES_MAX = 50 * 2 ** 20;
/** Bytes of a file that are sent in one message. */
const PART_BYTES = 384 * 2 ** 10;
const ERROR_CHARS_MAX = 4_000;

type Ask = Extract<FromChild, { type: "ask" }>;
type Calls = {
  child: Pick<ScriptProcess, "send" | "drained">;
  helpers: Record<string, ScriptHelper>;
  files: ScriptFiles;
  bytesLeft: number;
  /** The file work of the script, which runs one file at a time: a script holds one file in the service's memory. */
  fileWork: Promise<unknown>;
};

/** Answers a script's calls of functions of the service. */
export type ScriptCalls = {
  /** Begins a call. Resolves when the call has begun, which may be after an earlier call has ended. */
  begin: (ask: Ask) => Promise<void>;
};

/** Creates the answers to one script's calls: of helpers (`page.<name>`), and of functions for files. */
export function createScriptCalls(
  child: Pick<ScriptProcess, "send" | "drained">,
  { helpers, files }: { helpers: Record<string, ScriptHelper>; files: ScriptFiles },
): ScriptCalls {
  const calls: Calls = { child, helpers, files, bytesLeft: CALL_BYTES_MAX, fileWork: Promise.resolve() };
  const running = new Set<Promise<void>>();
  return {
    async begin(ask) {
      while (running.size >= CALLS_MAX) await Promise.race(running);
      const work = answer(calls, ask).finally(() => running.delete(work));
      running.add(work);
    },
  };
}

async function answer(calls: Calls, { id, name, args }: Ask): Promise<void> {
  const { child } = calls;
  try {
    spend(calls, 0);
    const value = await call(calls, id, name, args);
    spend(calls, Buffer.byteLength(JSON.stringify(value)));
    child.send({ type: "answer", id, ok: true, value });
  } catch (error) {
    child.send({ type: "answer", id, ok: false, error: beginningOf(errorText(error), ERROR_CHARS_MAX) });
  }
  await child.drained();
}

async function call(calls: Calls, id: number, name: string, args: unknown[]): Promise<unknown> {
  const helper = Object.hasOwn(calls.helpers, name) ? calls.helpers[name] : undefined;
  if (helper) return (await helper(...args)) ?? null;
  const [from, to] = args;
  if (name === "readFile") return inTurn(calls, () => sendFile(calls, id, String(from)));
  if (name === "copyFile") return inTurn(calls, () => copyFile(calls, String(from), String(to)));
  throw new Error(`There is no page.${name.slice(0, 100)}.`);
}

/** Sends a file in parts, each when the script has read most of the parts before. */
async function sendFile(calls: Calls, id: number, path: string): Promise<null> {
  const { child } = calls;
  const bytes = await calls.files.read(path, READ_BYTES_MAX);
  spend(calls, bytes.byteLength);
  for (let start = 0; start < bytes.byteLength; start += PART_BYTES) {
    const part = Buffer.from(
      bytes.buffer,
      bytes.byteOffset + start,
      Math.min(PART_BYTES, bytes.byteLength - start),
    );
    child.send({ type: "bytes", id, base64: part.toString("base64") });
    await child.drained();
  }
  return null;
}

async function copyFile(calls: Calls, from: string, to: string): Promise<null> {
  const bytes = await calls.files.read(from, COPY_BYTES_MAX);
  spend(calls, bytes.byteLength);
  await calls.files.write(to, bytes);
  return null;
}

function inTurn<Result>(calls: Calls, work: () => Promise<Result>): Promise<Result> {
  const result = calls.fileWork.then(() => {
    // The file before may have used up what was left.
    spend(calls, 0);
    return work();
  });
  calls.fileWork = result.catch(() => {});
  return result;
}

/** Takes bytes from what the script's calls may return. @throws Error if they are used up. */
function spend(calls: Calls, bytes: number): void {
  calls.bytesLeft -= bytes;
  if (calls.bytesLeft <= 0)
    throw new Error(
      `The calls of this script have returned ${CALL_BYTES_MAX / 2 ** 20} MiB, which is the most that a script gets.`,
    );
}
