import { WebSocket } from "ws";
import type { RunningService } from "#e2e/fixtures/service.ts";

/** Environment variables with which a service must be started so that `readHeldMb` can inspect it. */
export const INSPECTABLE = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

const READ_MEMORY = `JSON.stringify(process.memoryUsage())`;

/**
 * Reads the memory that the heap and the buffers of a service use after garbage collection, in MB. Free pages of the
 * allocator do not count.
 * @throws Error if the service was not started with `INSPECTABLE`.
 */
export async function readHeldMb(service: RunningService): Promise<number> {
  const url = /Debugger listening on (ws:\/\/\S+)/.exec(service.output())?.[1];
  if (url === undefined) throw new Error("the service was not started with INSPECTABLE");
  const socket = new WebSocket(url);
  await new Promise<void>((done, fail) => socket.once("open", () => done()).once("error", fail));
  let requests = 0;
  const ask = (method: string, params: object = {}) =>
    new Promise<{ result?: { value?: string } }>((done) => {
      const id = ++requests;
      socket.on("message", (data) => {
        const answer = JSON.parse(String(data));
        if (answer.id === id) done(answer.result);
      });
      socket.send(JSON.stringify({ id, method, params }));
    });
  try {
    // Three collections are needed, because finalizers that run after a collection may release further objects.
    for (let times = 0; times < 3; times++) await ask("HeapProfiler.collectGarbage");
    const { result } = await ask("Runtime.evaluate", { expression: READ_MEMORY });
    const { heapUsed, external } = JSON.parse(result?.value ?? "{}");
    return (heapUsed + external) / 1_048_576;
  } finally {
    socket.terminate();
  }
}
