import type { FromChild, ToChild } from "../script-protocol.ts";
import { splitMessage } from "./lines.ts";

/** How many calls of the service are open at once; further calls wait here. The service works on no more. */
const CALLS_MAX = 2;

/** For each kind of message from the service, the function that receives the messages. */
type Listeners = {
  run: (run: Extract<ToChild, { type: "run" }>) => void;
  devtools: (message: object) => void;
  pages: (count: number) => void;
  download: (download: Extract<ToChild, { type: "download" }>) => void;
  pending: (document: Extract<ToChild, { type: "pending" }>["document"]) => void;
};

const listeners: Listeners = { run() {}, devtools() {}, pages() {}, download() {}, pending() {} };
/** A call of the service that is not answered yet, with the parts of the file that it reads. */
type Call = { bytes: Buffer[]; onAnswer: (answer: Extract<ToChild, { type: "answer" }>) => void };

const calls = new Map<number, Call>();
const waiting: (() => void)[] = [];
// Stores the original function, because a script may replace `process.stdout.write`.
const write = process.stdout.write.bind(process.stdout);
let lastCall = 0;

/** Sends one message to the service. */
export function sendToService(message: FromChild): void {
  for (const line of splitMessage(JSON.stringify(message))) write(line);
}

/** Sets the receiver of one kind of message. */
export function listen<Kind extends keyof Listeners>(kind: Kind, listener: Listeners[Kind]): void {
  listeners[kind] = listener;
}

/** Calls a function of the service and returns its result. @throws Error with the message that the service sent. */
export const ask = async (name: string, args: unknown[]): Promise<unknown> => (await call(name, args)).value;

/** Reads a file of the workspace. @throws Error with the message that the service sent. */
export const readFile = async (path: string): Promise<Buffer> => (await call("readFile", [path])).bytes;

async function call(name: string, args: unknown[]): Promise<{ value: unknown; bytes: Buffer }> {
  const id = ++lastCall;
  while (calls.size >= CALLS_MAX) await new Promise<void>((resolve) => waiting.push(resolve));
  // Sent first, because it throws if the arguments are not JSON.
  sendToService({ type: "ask", id, name, args });
  const { promise, resolve, reject } = Promise.withResolvers<{ value: unknown; bytes: Buffer }>();
  const bytes: Buffer[] = [];
  calls.set(id, {
    bytes,
    onAnswer(answer) {
      calls.delete(id);
      waiting.shift()?.();
      if (answer.ok) resolve({ value: answer.value, bytes: Buffer.concat(bytes) });
      else reject(new Error(answer.error));
    },
  });
  return promise;
}

/** Reads the service's messages from stdin; exits when the service closes stdin. */
export function readMessages(): void {
  let pending: Buffer[] = [];
  process.stdin.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      pending.push(chunk.subarray(start, end));
      receive(JSON.parse(Buffer.concat(pending).toString()) as ToChild);
      pending = [];
      start = end + 1;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  });
  process.stdin.on("end", () => process.exit(0));
}

function receive(message: ToChild): void {
  switch (message.type) {
    case "run":
      listeners.run(message);
      break;
    case "devtools":
      listeners.devtools(message.message);
      break;
    case "pages":
      listeners.pages(message.count);
      break;
    case "download":
      listeners.download(message);
      break;
    case "pending":
      listeners.pending(message.document);
      break;
    case "bytes":
      calls.get(message.id)?.bytes.push(Buffer.from(message.base64, "base64"));
      break;
    case "answer":
      calls.get(message.id)?.onAnswer(message);
  }
}
