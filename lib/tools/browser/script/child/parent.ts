import type { FromChild, ToChild } from "../script-protocol.ts";

/** For each kind of message from the service, the function that receives the messages. */
type Listeners = {
  run: (run: Extract<ToChild, { type: "run" }>) => void;
  devtools: (message: object) => void;
  pages: (count: number) => void;
  download: (download: Extract<ToChild, { type: "download" }>) => void;
};

const listeners: Listeners = { run() {}, devtools() {}, pages() {}, download() {} };
const answers = new Map<number, (answer: Extract<ToChild, { type: "answer" }>) => void>();
// Stores the original function, because a script may replace `process.stdout.write`.
const write = process.stdout.write.bind(process.stdout);
let lastQuestion = 0;

/** Sends one message to the service. */
export const sendToService = (message: FromChild): void => void write(`${JSON.stringify(message)}\n`);

/** Sets the receiver of one kind of message. */
export function listen<Kind extends keyof Listeners>(kind: Kind, listener: Listeners[Kind]): void {
  listeners[kind] = listener;
}

/** Calls a function of the service and returns its result. @throws Error with the message that the service sent. */
export function ask(name: string, args: unknown[]): Promise<unknown> {
  const id = ++lastQuestion;
  return new Promise((resolve, reject) => {
    answers.set(id, (answer) => {
      answers.delete(id);
      if (answer.ok) resolve(answer.value);
      else reject(new Error(answer.error));
    });
    sendToService({ type: "ask", id, name, args });
  });
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
    case "answer":
      answers.get(message.id)?.(message);
  }
}
