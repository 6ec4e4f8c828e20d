import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

// With `--profile turn` or `--profile scripts`, the service loads this file before its own code. The first SIGUSR2
// starts a CPU profile and a count of database statements. The second SIGUSR2 writes both to BENCH_FOLDER
// (`profile.json`, `statements.json`).

const statements = new Map<string, number>();
let isCounting = false;

function count(text: string) {
  if (!isCounting) return;
  const statement = text.replaceAll(/\s+/g, " ").trim();
  statements.set(statement, (statements.get(statement) ?? 0) + 1);
}

async function watchDatabases() {
  const { default: pg } = await import("pg");
  const client = pg.Client.prototype as unknown as Record<
    string,
    (query: unknown, ...rest: unknown[]) => unknown
  >;
  const sendQuery = client.query;
  client.query = function (this: unknown, query, ...rest) {
    const text = typeof query === "string" ? query : (query as { text?: string }).text;
    if (text !== undefined) count(text);
    return sendQuery?.call(this, query, ...rest);
  };
}

if (isMainThread && process.env.BENCH_FOLDER !== undefined) {
  const folder = process.env.BENCH_FOLDER;
  await watchDatabases();
  const session = new Session();
  session.connect();
  process.on("SIGUSR2", async () => {
    if (!isCounting) {
      isCounting = true;
      await session.post("Profiler.enable");
      await session.post("Profiler.setSamplingInterval", { interval: 200 });
      await session.post("Profiler.start");
      process.stdout.write("bench:profiling\n");
      return;
    }
    isCounting = false;
    const { profile } = await session.post("Profiler.stop");
    writeFileSync(join(folder, "profile.json"), JSON.stringify(profile));
    writeFileSync(join(folder, "statements.json"), JSON.stringify([...statements]));
    process.stdout.write("bench:profiled\n");
  });
}
