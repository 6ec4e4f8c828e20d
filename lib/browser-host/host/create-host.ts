import type { WebSocket } from "ws";
import type { HostBrowsersDeps } from "#lib/browser/create-host-browsers.ts";
import { createLink, type Link } from "#lib/host-link/link.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { ScriptRunner } from "#lib/tools/browser/script/script-runner.ts";
import type { HostCalls, HostSettings, ServiceCalls } from "../host-calls.ts";
import { type AttachedServices, createAttachedServices } from "./attached-services.ts";
import { createCallRegister } from "./call-register.ts";
import { createHostControl } from "./host-control.ts";
import { createHandlers } from "./host-handlers.ts";
import { createHostLease } from "./host-lease.ts";
import { createHostLog } from "./host-log.ts";
import { createScriptCallers } from "./script-callers.ts";
import { createServiceOrigins } from "./service-origins.ts";
import { type StartDeps, type StartedBrowsers, startBrowsers } from "./start-browsers.ts";

/** What a host needs to run browsers on its machine. Times are in milliseconds. */
type HostDeps = Pick<HostBrowsersDeps, "launch" | "dataDir" | "maxLive"> & {
  id: string;
  /** How long browsers stay without a connected process of the service. */
  lingerMs: number;
  scripts: ScriptRunner;
  logger: Logger;
  /** Called when the host has no browser and no connected process any more, or has lost its lease. */
  onIdle: (reason: string) => void;
};

/** A browser host. */
type BrowserHost = {
  /** Accepts a process of the service. */
  accept: (socket: WebSocket) => void;
  close: () => Promise<void>;
};

const CHECK_EVERY_MS = 1_000;
/** How long a host waits for its first process. */
const FIRST_MS = 30_000;

/** Creates a browser host. Browsers and tools are created when the first process of the service has connected. */
export function createHost(deps: HostDeps): BrowserHost {
  const { id, maxLive, scripts, onIdle } = deps;
  const started = createStartOnce();
  const services = createAttachedServices(
    deps.lingerMs,
    () => void endIfUnused(deps, services, started.read),
  );
  const logger = createHostLog(services, deps.logger);
  const calls = createCallRegister();
  const lease = createHostLease({
    services,
    listLive: async () => (await started.read())?.browsers.listLive() ?? [],
    onSuspended: (reason) => calls.endAll(new Error(reason)),
    async onUnrecorded(sessionIds) {
      const browsers = (await started.read())?.browsers;
      // A browser that starts is recorded a moment later.
      const up = new Set(browsers?.listUp());
      await Promise.all(
        sessionIds.filter((each) => up.has(each)).map((each) => browsers?.closeSession(each)),
      );
    },
    onLost: () => onIdle("the lease was lost"),
    logger,
  });
  const control = createHostControl();
  const callers = createScriptCallers();
  const origins = createServiceOrigins();
  const startDeps: StartDeps = {
    ...deps,
    logger,
    services,
    origins,
    control,
    scripts: whileLeased(scripts, lease.check),
    scriptHelpers: callers.helpers,
  };
  const handlerDeps = {
    services,
    origins,
    control,
    calls,
    callers,
    lease,
    start: (settings: HostSettings) => started.start(() => startBrowsers(startDeps, settings)),
    async started() {
      const own = await started.read();
      if (!own) throw new Error("the process is not attached");
      return own;
    },
    describeHost: () => ({
      id,
      places: maxLive,
      scripts: { refusal: scripts.refusal, detail: scripts.describe().detail },
    }),
    async end(reason: string) {
      await (await started.read())?.browsers.close();
      setImmediate(() => onIdle(reason));
    },
  };
  const timer = setInterval(() => void endIfUnused(deps, services, started.read), CHECK_EVERY_MS);
  return {
    accept(socket) {
      const link: Link<ServiceCalls> = createLink<ServiceCalls, HostCalls>(
        socket,
        createHandlers(handlerDeps, () => link),
        deps.logger,
      );
    },
    async close() {
      clearInterval(timer);
      lease.close();
      const own = await started.read();
      await Promise.all([own?.browsers.close(), scripts.close()]);
    },
  };
}

/** Starts the browsers once. After a start that failed, the next process tries again. */
function createStartOnce() {
  let starting: Promise<StartedBrowsers> | undefined;
  return {
    start(start: () => Promise<StartedBrowsers>): Promise<StartedBrowsers> {
      starting ??= start().catch((error: unknown) => {
        starting = undefined;
        throw error;
      });
      return starting;
    },
    /** Undefined if no process has attached. */
    read: async (): Promise<StartedBrowsers | undefined> => starting?.catch(() => undefined),
  };
}

/** Ends the host if no process is connected and it has no browser, or if no process has connected for a while. */
async function endIfUnused(
  { lingerMs, onIdle }: HostDeps,
  services: AttachedServices,
  read: () => Promise<StartedBrowsers | undefined>,
): Promise<void> {
  const own = await read();
  const since = services.aloneSinceMs();
  if (since === undefined) return;
  const aloneMs = performance.now() - since;
  if (!own) {
    if (aloneMs > FIRST_MS) onIdle("no process of the service has connected");
  } else if (aloneMs >= lingerMs) onIdle("no process of the service is connected");
  else if (own.browsers.listLive().length === 0) onIdle("there is nothing to do");
}

/** Checks the lease before each message of a script: a host that was stopped reads messages before its timers fire. */
const whileLeased = (scripts: ScriptRunner, check: () => void): ScriptRunner => ({
  ...scripts,
  run: (live, script, options) => scripts.run(live, script, { ...options, check }),
});
