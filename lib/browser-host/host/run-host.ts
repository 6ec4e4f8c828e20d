import { existsSync } from "node:fs";
import type { HostBrowsersDeps } from "#lib/browser/create-host-browsers.ts";
import { listenForLinks } from "#lib/host-link/listen-for-links.ts";
import type { Logger } from "#lib/log/logger.ts";
import { createScriptRunner } from "#lib/tools/browser/script/script-runner.ts";
import { createHost } from "./create-host.ts";

/** The settings with which a browser host starts. */
export type HostStart = Pick<HostBrowsersDeps, "launch" | "dataDir" | "maxLive"> & {
  id: string;
  /** What a process of the service must send to connect. */
  token: string;
  listen: { host: string; port: number };
  lingerMs: number;
  /** Whether scripts may run in weaker confinement where bubblewrap does not work (`SANDBOX=unconfined`). */
  isUnconfinedAllowed: boolean;
  isWarm: boolean;
};

/** Messages that are kept for a process that connects later. */
const LOG_MAX = 100;
const FOLDER_EVERY_MS = 5_000;

/**
 * Runs a browser host until it has nothing to do, its data folder is gone, or it gets SIGTERM.
 *
 * @param onListening called when processes of the service can connect.
 */
export async function runHost(start: HostStart, onListening: (at: { port: number }) => void): Promise<void> {
  // The service may be a process of a terminal: Ctrl-C reaches the service, which tells the host.
  process.on("SIGINT", () => {});
  const logger = createHostLogger();
  const scripts = await createScriptRunner({
    logger,
    isWarm: start.isWarm,
    isUnconfinedAllowed: start.isUnconfinedAllowed,
  });
  let isEnding = false;
  async function end(reason: string): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    logger.info({ reason }, "the browser host ended");
    // Pages that hang must not keep the process alive.
    setTimeout(() => process.exit(1), 20_000).unref();
    await host.close();
    await listener.close();
    process.exit(0);
  }
  const host = createHost({ ...start, scripts, logger, onIdle: (reason) => void end(reason) });
  const listener = await listenForLinks({
    address: start.listen,
    token: start.token,
    onSocket: host.accept,
    onOtherVersion: (protocol) =>
      logger.warn({ protocol }, "a process of another version wanted to connect to the browser host"),
  });
  process.on("SIGTERM", () => void end("the host was told to end"));
  setInterval(() => {
    if (!existsSync(start.dataDir)) void end("the data folder is gone");
  }, FOLDER_EVERY_MS);
  onListening({ port: listener.port });
}

/** Logs to standard error as JSON lines. Standard error of a host that the service has started is a file. */
function createHostLogger(): Logger {
  let lines = 0;
  const log = (level: string) => (fields: object, message: string) => {
    if (level === "debug" || lines > LOG_MAX * 100) return;
    lines += 1;
    const shown = Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? value.message : value]),
    );
    process.stderr.write(
      `${JSON.stringify({ time: new Date().toISOString(), level, ...shown, msg: message })}\n`,
    );
  };
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}
