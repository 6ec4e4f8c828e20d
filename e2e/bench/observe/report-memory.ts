import { isMainThread } from "node:worker_threads";

// A measured process loads this file before its own code. On SIGUSR2, it collects garbage and prints its memory usage
// in bytes.
if (isMainThread)
  process.on("SIGUSR2", () => {
    const collect = (globalThis as { gc?: () => void }).gc;
    collect?.();
    collect?.();
    process.stdout.write(`bench:memory ${JSON.stringify(process.memoryUsage())}\n`);
  });
