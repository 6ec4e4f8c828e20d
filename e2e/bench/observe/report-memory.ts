import { isMainThread } from "node:worker_threads";

// Preloaded into measured processes: on SIGUSR2 it collects garbage and prints the memory usage in bytes.
if (isMainThread)
  process.on("SIGUSR2", () => {
    const collect = (globalThis as { gc?: () => void }).gc;
    collect?.();
    collect?.();
    process.stdout.write(`bench:memory ${JSON.stringify(process.memoryUsage())}\n`);
  });
