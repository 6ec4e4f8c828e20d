import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { type HostStart, runHost } from "./host/run-host.ts";

/** A browser host that the service has started: it gets its settings as JSON on standard input. */
const start = JSON.parse(readFileSync(0, "utf8")) as HostStart;
await mkdir(start.dataDir, { recursive: true });
await runHost(start, ({ port }) => process.stdout.write(`${JSON.stringify({ port })}\n`));
