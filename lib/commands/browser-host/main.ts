import { mkdir } from "node:fs/promises";
import { runHost } from "#lib/browser-host/host/run-host.ts";
import { EnvError } from "#lib/server/env.ts";
import { EXIT_CODES } from "#lib/setup/exit-codes.mjs";
import { readHostSettings } from "./read-host-settings.ts";

// The entry point of `npm run browser-host`.

try {
  const start = await readHostSettings(process.env);
  // The host's child processes must not inherit the token.
  delete process.env.BROWSER_HOST_TOKEN;
  await mkdir(start.dataDir, { recursive: true });
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  await runHost(start, ({ port, scripts }) => {
    const protocol = start.tls ? "wss" : "ws";
    const { host } = start.listen;
    console.log(
      `Browser host ${start.id} listens at ${protocol}://${host.includes(":") ? `[${host}]` : host}:${port} (${start.maxLive} browsers; scripts: ${scripts}).`,
    );
    // The process that runs `npm run browser-host` restarts a host that was ready.
    process.send?.("ready");
  });
} catch (error) {
  console.error(
    `\nThe browser host could not start. ${error instanceof Error ? error.message : String(error)}`,
  );
  process.exit(error instanceof EnvError ? EXIT_CODES.wrongSetting : EXIT_CODES.failed);
}
