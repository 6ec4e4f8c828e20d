import { existsSync } from "node:fs";
import type { MachineSettings } from "#lib/browser/host/host-parts.ts";
import { PROTOCOL_VERSION } from "#lib/host-link/link-message.ts";
import { listenForLinks } from "#lib/host-link/listen-for-links.ts";
import { createScriptRunner } from "#lib/tools/browser/script/script-runner.ts";
import { createHost } from "./create-host.ts";
import { createStderrLog } from "./stderr-log.ts";

/** The settings with which a browser host starts. */
export type HostStart = MachineSettings & {
  id: string;
  /** What a process of the service must send to connect. */
  token: string;
  listen: { host: string; port: number };
  /** Certificate and private key, in PEM. Without them the connections are not encrypted. */
  tls?: { cert: string; key: string };
  lingerMs: number;
  /** How long the lease of a test run stays without a connected process. Default: it ends with its process. */
  leaseKeptMs?: number;
  /** Whether scripts may run in weaker confinement where bubblewrap does not work (`SANDBOX=unconfined`). */
  isUnconfinedAllowed: boolean;
  isWarm: boolean;
  /** Whether an operator has started the host. It then waits for processes of the service instead of ending. */
  isRemote: boolean;
};

const FOLDER_EVERY_MS = 5_000;

/**
 * Runs a browser host until it has nothing to do, its data folder is gone, or it gets SIGTERM. A remote host does not end
 * because it has nothing to do.
 *
 * @param onListening called when processes of the service can connect. `scripts`: how scripts are confined.
 * @throws Error if the address is taken, or the certificate and the key do not fit.
 */
export async function runHost(
  start: HostStart,
  onListening: (at: { port: number; scripts: string }) => void,
): Promise<void> {
  // The service may be a process of a terminal: Ctrl-C reaches the service, which tells the host.
  process.on("SIGINT", () => start.isRemote && void end("the host was told to end"));
  const logger = createStderrLog((line) => process.stderr.write(line));
  const scripts = await createScriptRunner({
    logger,
    isWarm: start.isWarm,
    isUnconfinedAllowed: start.isUnconfinedAllowed,
  });
  // Loaded only here, because most hosts run no tests.
  const tests = start.isRemote
    ? (await import("./host-tests.ts")).createHostTests({ dataDir: start.dataDir, logger })
    : undefined;
  let isEnding = false;
  async function end(reason: string, exitCode = 0): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    logger.info({ reason }, "the browser host ended");
    // Pages that hang must not keep the process alive.
    setTimeout(() => process.exit(1), 20_000).unref();
    await host.close();
    await listener.close();
    process.exit(exitCode);
  }
  const host = createHost({
    ...start,
    scripts,
    tests,
    logger,
    onIdle: (reason) => void end(reason),
    // A remote host is started again by what has started it, and is another host then.
    onLost: () => void end("the lease was lost", 1),
  });
  const listener = await listenForLinks({
    address: start.listen,
    token: start.token,
    tls: start.tls,
    identity: { id: start.id, places: start.maxLive },
    onSocket: host.accept,
    onOtherVersion(protocol) {
      logger.warn({ protocol }, "a process of another version wanted to connect to the browser host");
      if (protocol > PROTOCOL_VERSION) host.drain();
    },
  });
  process.on("SIGTERM", () => void end("the host was told to end"));
  setInterval(() => {
    if (!existsSync(start.dataDir)) void end("the data folder is gone");
  }, FOLDER_EVERY_MS);
  onListening({ port: listener.port, scripts: scripts.describe().detail });
}
