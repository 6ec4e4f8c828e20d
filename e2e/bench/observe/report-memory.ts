import { isMainThread } from "node:worker_threads";

// Measured processes load this file first. On SIGUSR2, the process collects garbage and prints its memory usage in bytes.
if (isMainThread)
  process.on("SIGUSR2", () => {
    const collect = (globalThis as { gc?: () => void }).gc;
    collect?.();
    collect?.();
    process.stdout.write(`bench:memory ${JSON.stringify(process.memoryUsage())}\n`);
  });
