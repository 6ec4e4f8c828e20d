import { WebSocket } from "ws";
import type { RunningService } from "#e2e/fixtures/service.ts";

/** Settings with which a service can be asked what it holds. */
export const INSPECTABLE = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

const READ_MEMORY = `JSON.stringify(process.memoryUsage())`;

/**
 * What a service's objects and buffers take once everything that nobody refers to is gone, in MB: the garbage collector is
 * made to run, so that what is left is held by somebody. Pages that the allocator keeps for later do not count.
 */
export async function readHeldMb(service: RunningService): Promise<number> {
  const url = /Debugger listening on (ws:\/\/\S+)/.exec(service.output())?.[1];
  if (url === undefined) throw new Error("the service was not started with INSPECTABLE");
  const socket = new WebSocket(url);
  await new Promise<void>((done, fail) => socket.once("open", () => done()).once("error", fail));
  let asked = 0;
  const ask = (method: string, params: object = {}) =>
    new Promise<{ result?: { value?: string } }>((done) => {
      const id = ++asked;
      socket.on("message", (data) => {
        const answer = JSON.parse(String(data));
        if (answer.id === id) done(answer.result);
      });
      socket.send(JSON.stringify({ id, method, params }));
    });
  try {
    // What a first collection lets go of may have held more, by finalizers.
    for (let times = 0; times < 3; times++) await ask("HeapProfiler.collectGarbage");
    const { result } = await ask("Runtime.evaluate", { expression: READ_MEMORY });
    const { heapUsed, external } = JSON.parse(result?.value ?? "{}");
    return (heapUsed + external) / 1_048_576;
  } finally {
    socket.terminate();
  }
}
