import { randomUUID } from "node:crypto";
import type { WebSocket } from "ws";
import type { MachineSettings } from "#lib/browser/host/host-parts.ts";
import type { ControlTimes } from "#lib/browser/view/control-state.ts";
import { createHostControl } from "#lib/browser/view/host-control.ts";
import { createLink, type Link } from "#lib/host-link/link.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { ScriptRunner } from "#lib/tools/browser/script/script-runner.ts";
import type { HostCalls, HostSettings, ServiceCalls } from "../host-calls.ts";
import { type AttachedServices, createAttachedServices } from "./attached-services.ts";
import { createCallRegister } from "./call-register.ts";
import { createHandlers } from "./host-handlers.ts";
import { createHostLease } from "./host-lease.ts";
import { createHostLog } from "./host-log.ts";
import type { HostTests } from "./host-tests.ts";
import { createKeptLeases } from "./kept-leases.ts";
import { createScriptCallers } from "./script-callers.ts";
import { createServiceOrigins } from "./service-origins.ts";
import { type StartDeps, type StartedBrowsers, startBrowsers } from "./start-browsers.ts";

/** What a host needs to run browsers on its machine. Times are in milliseconds. */
type HostDeps = MachineSettings & {
  id: string;
  /** How long browsers stay without a connected process of the service. */
  lingerMs: number;
  /** How long the lease of a test run stays without a connected process. Default: it ends with its process. */
  leaseKeptMs?: number;
  /** See `CONTROL_TIMES`. */
  controlTimes?: Partial<ControlTimes>;
  /** Whether the host stays when it has nothing to do: an operator has started it. */
  isRemote: boolean;
  scripts: ScriptRunner;
  /** The tests that run at this host, if it is on another machine than the service. */
  tests?: HostTests | undefined;
  logger: Logger;
  /** Called when the host has nothing to do any more. */
  onIdle: (reason: string) => void;
  /** Called when the service has given the host up. */
  onLost: () => void;
};

/** A browser host. */
type BrowserHost = {
  /** Accepts a process of the service. */
  accept: (socket: WebSocket) => void;
  /** Takes no new sessions, and ends the host after its last one. */
  drain: () => void;
  close: () => Promise<void>;
};

const CHECK_EVERY_MS = 1_000;
/** How long a host waits for its first process. */
const FIRST_MS = 30_000;

/** Creates a browser host. Browsers and tools are created when the first process of the service has connected. */
export function createHost(deps: HostDeps): BrowserHost {
  const { id, maxLive, scripts, onIdle, onLost } = deps;
  let isDraining = false;
  let isEnding = false;
  let scriptOrigin = "";
  const leases = createKeptLeases(deps.leaseKeptMs ?? 0);
  const check = async () =>
    endIfUnused(deps, services, { started: await started.read(), leases: leases.count(), isDraining });
  const services = createAttachedServices(deps.lingerMs, () => void check());
  const logger = createHostLog(services, deps.logger);
  const started = createStartOnce(services, logger);
  const calls = createCallRegister();
  const lease = createHostLease({
    services,
    async readLoad() {
      const browsers = (await started.read())?.browsers;
      return {
        sessionIds: browsers?.listLive() ?? [],
        running: browsers?.describe().live ?? 0,
        places: isDraining ? 0 : maxLive,
      };
    },
    onSuspended: (reason) => calls.endAll(new Error(reason)),
    async onUnrecorded({ elsewhere, ended }) {
      const browsers = (await started.read())?.browsers;
      // A session that still waits here was handed over to another host.
      for (const each of elsewhere) browsers?.handOver(each);
      // A browser that starts is recorded a moment later.
      const up = new Set(browsers?.listUp());
      const isUp = (each: string) => up.has(each);
      await Promise.all([...elsewhere, ...ended].filter(isUp).map((each) => browsers?.closeSession(each)));
    },
    onLost,
    logger,
  });
  /** The browsers, as soon as they have been created. */
  let browsers: StartedBrowsers["browsers"] | undefined;
  let handoverPages: StartedBrowsers["handoverPages"] | undefined;
  const control = createHostControl({
    hostId: id,
    browsers: () => browsers,
    onChange: (state) => services.tellAll("controlChanged", { state }),
    emit: (sessionId, event) => services.records.emit({ sessionId, change: randomUUID(), event }),
    isHandedOver: (sessionId) => services.records.isHandedOver({ sessionId }),
    handoverPages: () => handoverPages,
    logger,
    ...(deps.controlTimes && { times: deps.controlTimes }),
  });
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
    scriptOrigin: () => scriptOrigin,
  };
  const handlerDeps = {
    services,
    origins,
    control,
    calls,
    callers,
    lease,
    leases,
    tests: deps.tests,
    isDraining: () => isDraining,
    isEnding: () => isEnding,
    start(settings: HostSettings) {
      ({ scriptOrigin } = settings);
      return started.start(settings, async () => {
        const own = await startBrowsers(startDeps, settings);
        ({ browsers, handoverPages } = own);
        return own;
      });
    },
    async started() {
      const own = await started.read();
      if (!own) throw new Error("the process is not attached");
      return own;
    },
    describeHost: () => ({
      id,
      scripts: { refusal: scripts.refusal, detail: scripts.describe().detail },
    }),
    async end(reason: string) {
      isEnding = true;
      await (await started.read())?.browsers.close();
      setImmediate(() => onIdle(reason));
    },
  };
  const timer = setInterval(() => void check(), CHECK_EVERY_MS);
  return {
    accept(socket) {
      const link: Link<ServiceCalls> = createLink<ServiceCalls, HostCalls>(
        socket,
        createHandlers(handlerDeps, () => link),
        deps.logger,
      );
    },
    drain() {
      isDraining = true;
      void lease.renewNow();
    },
    async close() {
      isEnding = true;
      clearInterval(timer);
      lease.close();
      control.close();
      const own = await started.read();
      await Promise.all([own?.browsers.close(), scripts.close(), deps.tests?.close()]);
    },
  };
}

/**
 * Starts the browsers for the first process that connects, and again for a process with other settings, unless another
 * process is connected. After a start that failed, the next process tries again.
 */
function createStartOnce(services: AttachedServices, logger: Logger) {
  let current: { settings: string; starting: Promise<StartedBrowsers> } | undefined;
  const read = async () => current?.starting.catch(() => undefined);
  return {
    start(
      { ownOrigin, scriptOrigin, ...settings }: HostSettings,
      start: () => Promise<StartedBrowsers>,
    ): Promise<StartedBrowsers> {
      // These may be new after a restart of the service: all own origins apply, and the last script origin.
      const text = JSON.stringify(settings);
      if (current?.settings === text) return current.starting;
      if (current && services.count() > 0) {
        logger.warn(
          {},
          "a process has other settings for browsers than the connected ones; they apply later",
        );
        return current.starting;
      }
      const before = read();
      const starting = (async () => {
        await (await before)?.browsers.close();
        return start();
      })();
      const own = { settings: text, starting };
      current = own;
      starting.catch(() => {
        if (current === own) current = undefined;
      });
      return starting;
    },
    /** Undefined if no process has attached. */
    read,
  };
}

/**
 * Ends the host if it has nothing to do: no process is connected and it has no browser, no process has connected for a
 * while, or it is drained. A remote host waits instead; its browsers end after the linger time.
 */
function endIfUnused(
  { lingerMs, isRemote, onIdle }: HostDeps,
  services: AttachedServices,
  {
    started: own,
    leases,
    isDraining,
  }: { started: StartedBrowsers | undefined; leases: number; isDraining: boolean },
): void {
  const live = own?.browsers.listLive() ?? [];
  const isUnused = live.length + leases === 0;
  const since = services.aloneSinceMs();
  if (isDraining && isUnused) onIdle("a newer version of the service runs");
  if (since === undefined) return;
  const aloneMs = performance.now() - since;
  if (isRemote) {
    // Their end cannot be recorded now; the service records it when the lease has ended.
    if (aloneMs >= lingerMs) for (const id of live) own?.browsers.closeSession(id).catch(() => {});
  } else if (!own) {
    if (aloneMs > FIRST_MS) onIdle("no process of the service has connected");
  } else if (aloneMs >= lingerMs) onIdle("no process of the service is connected");
  else if (isUnused) onIdle("there is nothing to do");
}

/** Checks the lease before each message of a script: a host that was stopped reads messages before its timers fire. */
const whileLeased = (scripts: ScriptRunner, check: () => void): ScriptRunner => ({
  ...scripts,
  run: (live, script, options) => scripts.run(live, script, { ...options, check }),
});
