import { type RunningService, waitUntil } from "../fixtures/service.ts";

/**
 * Reads a service's memory usage after a garbage collection. The service must have loaded `observe/report-memory.ts`.
 */
export async function readMemoryUsage(service: RunningService): Promise<NodeJS.MemoryUsage> {
  const read = () => [...service.output().matchAll(/^bench:memory (.*)$/gm)].map(([, json]) => json ?? "{}");
  const seen = read().length;
  process.kill(service.pid ?? 0, "SIGUSR2");
  await waitUntil(() => read().length > seen, "the service has reported its memory");
  return JSON.parse(read().at(-1) ?? "{}") as NodeJS.MemoryUsage;
}
