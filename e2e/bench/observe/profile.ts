import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

// Preloaded into the service for `--profile`: the first SIGUSR2 starts a CPU profile and the counting of database
// statements, the second one writes both to BENCH_FOLDER (`profile.json`, `statements.json`).

const statements = new Map<string, number>();
let isCounting = false;

function count(text: string) {
  if (!isCounting) return;
  const known = text.replaceAll(/\s+/g, " ").trim();
  statements.set(known, (statements.get(known) ?? 0) + 1);
}

/** The texts of the statements that PGlite has parsed, by the names they were given. */
const prepared = new Map<string, string>();

/**
 * PGlite speaks Postgres's wire protocol to itself, several messages at once: `P` carries a statement to prepare, `B`
 * its name and values to run it with, `Q` a simple query.
 */
function countStatements(message: Uint8Array): void {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  for (let start = 0; start + 5 <= bytes.length; start += 1 + bytes.readUInt32BE(start + 1)) {
    const type = String.fromCharCode(bytes[start] ?? 0);
    if (type !== "P" && type !== "B" && type !== "Q") continue;
    const body = bytes.subarray(start + 5, start + 1 + bytes.readUInt32BE(start + 1));
    const [first = "", second = ""] = body.toString("utf8").split("\0", 2);
    if (type === "P") prepared.set(first, second);
    else count(type === "Q" ? first : (prepared.get(second) ?? ""));
  }
}

async function watchDatabases() {
  const { PGlite } = await import("@electric-sql/pglite");
  const proto = PGlite.prototype as unknown as Record<
    string,
    (message: Uint8Array, ...rest: unknown[]) => unknown
  >;
  for (const name of ["execProtocolRaw", "execProtocolRawSync", "execProtocolRawStream"]) {
    const original = proto[name];
    if (!original) continue;
    proto[name] = function (this: unknown, message, ...rest) {
      if (depth === 0) countStatements(message);
      depth += 1;
      try {
        // Only the synchronous part: what one of these calls another with is the same message.
        return original.call(this, message, ...rest);
      } finally {
        depth -= 1;
      }
    };
  }
  const { default: pg } = await import("pg");
  const client = pg.Client.prototype as unknown as Record<
    string,
    (query: unknown, ...rest: unknown[]) => unknown
  >;
  const query = client.query;
  client.query = function (this: unknown, asked, ...rest) {
    const text = typeof asked === "string" ? asked : (asked as { text?: string }).text;
    if (text !== undefined) count(text);
    return query?.call(this, asked, ...rest);
  };
}
let depth = 0;

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
