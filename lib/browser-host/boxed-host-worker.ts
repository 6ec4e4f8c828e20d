import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { type HostStart, runHost } from "./host/run-host.ts";

/**
 * The browser host of one session, in the session's Vercel Sandbox. It gets its settings as JSON on standard input, so
 * that no other process finds the token in its environment or arguments. `PORT` is set by `startInBox`.
 */
const start = JSON.parse(readFileSync(0, "utf8")) as HostStart;
await mkdir(start.dataDir, { recursive: true });
await runHost({ ...start, listen: { host: "0.0.0.0", port: Number(process.env.PORT) } }, () =>
  process.stdout.write("the browser host listens\n"),
);
