import { isMainThread } from "node:worker_threads";

// Preloaded into what is measured: on SIGUSR2 it collects garbage and prints what is left, in bytes.
if (isMainThread)
  process.on("SIGUSR2", () => {
    const collect = (globalThis as { gc?: () => void }).gc;
    collect?.();
    collect?.();
    process.stdout.write(`bench:memory ${JSON.stringify(process.memoryUsage())}\n`);
  });
