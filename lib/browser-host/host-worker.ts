import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { shortenResolution } from "#lib/setup/shorten-resolution.ts";
import type { HostStart } from "./host/run-host.ts";

/** A browser host that the service has started: it gets its settings as JSON on standard input. */
const start = JSON.parse(readFileSync(0, "utf8")) as HostStart;
await mkdir(start.dataDir, { recursive: true });
// The import is dynamic, because a static import would be resolved before the hook is registered.
const stopShortening = shortenResolution();
const { runHost } = await import("./host/run-host.ts");
await runHost(start, ({ port }) => {
  stopShortening();
  process.stdout.write(`${JSON.stringify({ port })}\n`);
});
