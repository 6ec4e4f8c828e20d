import type { WebSocket } from "ws";
import type { BrowserLease, HostBrowsers, HostPlaces } from "#lib/browser/browser-service.ts";
import { createHostBrowsers, type HostBrowsersDeps } from "#lib/browser/create-host-browsers.ts";
import { createLink, type IncomingCall, type Link, type LinkHandlers } from "#lib/host-link/link.ts";
import type { Logger } from "#lib/log/logger.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createPictureComparer } from "#lib/tools/browser/compare/picture-comparer.ts";
import { createPageTools } from "#lib/tools/browser/create-page-tools.ts";
import type { PageTools } from "#lib/tools/browser/page-tools.ts";
import { createPageTurns } from "#lib/tools/browser/page-turns.ts";
import { createSnapshotBook } from "#lib/tools/browser/read/snapshot-book.ts";
import type { ScriptRunner } from "#lib/tools/browser/script/script-runner.ts";
import type { ToolCall } from "#lib/tools/tool.ts";
import { createVariantPages } from "#lib/variant/create-variant-pages.ts";
import { createVariantView } from "#lib/variant/show-for-picture.ts";
import type { VariantPages } from "#lib/variant/variant-pages.ts";
import type { HostCalls, HostInfo, HostSettings, SentCall, ServiceCalls } from "../host-calls.ts";
import { type AttachedServices, createAttachedServices } from "./attached-services.ts";
import { type CallRegister, createCallRegister } from "./call-register.ts";
import { createHostControl, type HostControl } from "./host-control.ts";
import { createHostLease, type HostLease } from "./host-lease.ts";

/** What a host needs to run browsers on its machine. Times are in milliseconds. */
type HostDeps = Pick<HostBrowsersDeps, "launch" | "dataDir" | "maxLive"> & {
  id: string;
  /** How long browsers stay without a connected process of the service. */
  lingerMs: number;
  /** Whether the host stays when it has nothing to do: an operator has started it. */
  isRemote: boolean;
  scripts: ScriptRunner;
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

/** The parts that are created with the settings of a process that connects. */
type Running = { browsers: HostBrowsers & HostPlaces; pages: PageTools; variants: VariantPages };

type Host = {
  deps: HostDeps;
  /** Logs at a connected process. */
  logger: Logger;
  services: AttachedServices;
  control: HostControl;
  calls: CallRegister;
  lease: HostLease;
  running: Promise<Running> | undefined;
  /** The settings of `running`, as JSON. */
  settings: string | undefined;
  isDraining: boolean;
  /** The link of the process that made a call, for the functions that the call's script calls there. */
  callers: Map<string, Link<ServiceCalls>>;
};

const CHECK_EVERY_MS = 1_000;
/** How long a host waits for its first process. */
const FIRST_MS = 30_000;

/** Creates a browser host. Browsers and tools are created when the first process of the service has connected. */
export function createHost(deps: HostDeps): BrowserHost {
  const services = createAttachedServices(deps.lingerMs, () => void endIfUnused(host));
  const logger = logAtService(services, deps.logger);
  const calls = createCallRegister();
  const host: Host = {
    deps,
    services,
    control: createHostControl(),
    calls,
    lease: createHostLease({
      services,
      async readLoad() {
        const browsers = (await host.running)?.browsers;
        return {
          sessionIds: browsers?.listLive() ?? [],
          running: browsers?.describe().live ?? 0,
          places: host.isDraining ? 0 : deps.maxLive,
        };
      },
      onSuspended: (reason) => calls.endAll(new Error(reason)),
      async onEnded(sessionIds) {
        const browsers = (await host.running)?.browsers;
        // A session that still waits here was handed over to another host.
        for (const id of sessionIds) browsers?.handOver(id);
        await Promise.all(sessionIds.map((id) => browsers?.closeSession(id)));
      },
      onLost: deps.onLost,
      logger,
    }),
    logger,
    running: undefined,
    settings: undefined,
    isDraining: false,
    callers: new Map(),
  };
  const timer = setInterval(() => void endIfUnused(host), CHECK_EVERY_MS);
  return {
    accept(socket) {
      const link: Link<ServiceCalls> = createLink<ServiceCalls, HostCalls>(
        socket,
        createHandlers(host, () => link),
        deps.logger,
      );
    },
    drain() {
      host.isDraining = true;
      host.lease.renewNow();
    },
    async close() {
      clearInterval(timer);
      host.lease.close();
      const running = await host.running?.catch(() => undefined);
      await Promise.all([running?.browsers.close(), deps.scripts.close()]);
    },
  };
}

/**
 * Ends the host if it has nothing to do: no process is connected and it has no browser, no process has connected for a
 * while, or it is drained. A remote host waits instead; its browsers end after the linger time.
 */
async function endIfUnused({ deps, services, running, isDraining }: Host): Promise<void> {
  const browsers = (await running?.catch(() => undefined))?.browsers;
  const live = browsers?.listLive() ?? [];
  if (isDraining && live.length === 0) return deps.onIdle("a newer version of the service runs");
  const since = services.aloneSinceMs();
  if (since === undefined) return;
  const aloneMs = performance.now() - since;
  if (deps.isRemote) {
    // Their end cannot be recorded now; the service records it when the lease has ended.
    if (aloneMs >= deps.lingerMs) for (const id of live) browsers?.closeSession(id).catch(() => {});
    return;
  }
  if (running === undefined) {
    if (aloneMs > FIRST_MS) deps.onIdle("no process of the service has connected");
    return;
  }
  if (aloneMs >= deps.lingerMs) return deps.onIdle("no process of the service is connected");
  if (live.length === 0) deps.onIdle("there is nothing to do");
}

/** Sends what the host logs to a connected process. If there is none, logs on this machine. */
function logAtService(services: AttachedServices, own: Logger): Logger {
  const logAt = (level: keyof Logger) => (fields: object, message: string) => {
    if (services.count() === 0) return own[level](fields, message);
    const plain = Object.entries(fields).map(([key, value]) => [key, toPlain(value)]);
    services.tell("log", { level, fields: Object.fromEntries(plain), message });
  };
  return { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

const toPlain = (value: unknown): unknown =>
  value instanceof Error
    ? { type: value.name, message: value.message, stack: value.stack }
    : typeof value === "function" || typeof value === "symbol"
      ? String(value)
      : value;

/**
 * Returns the running parts. Creates them for the first process that connects, and again, without browsers, for a process
 * with other settings, unless another process is connected.
 */
function startOnce(host: Host, settings: HostSettings): Promise<Running> {
  const { logger, services, running: before } = host;
  const text = JSON.stringify(settings);
  if (before && host.settings === text) return before;
  if (before && services.count() > 0) {
    logger.warn({}, "a process has other settings for browsers than the connected ones; they apply later");
    return before;
  }
  const running = (async () => {
    await (await before?.catch(() => undefined))?.browsers.close();
    return start(host, settings);
  })();
  Object.assign(host, { running, settings: text });
  running.catch(() => {
    if (host.running === running) host.running = undefined;
  });
  return running;
}

/** Creates the browsers and the work on their pages. */
async function start(host: Host, settings: HostSettings): Promise<Running> {
  const { deps, services, control, logger } = host;
  const { launch, dataDir, maxLive, scripts } = deps;
  const { allow, scriptOrigin, ownOrigin, idleMs, waitMs, keepSpare } = settings;
  const browsers = await createHostBrowsers({
    records: services.records,
    logger,
    launch,
    dataDir,
    maxLive,
    rule: createAddressRule({ allow: [...allow] }),
    ownOrigin,
    idleMs,
    waitMs,
    keepSpare,
    onRequestRefused: (refusal) => services.tell("noteRefusal", refusal),
    onAnnotation: (sessionId, body) => services.ask("submitAnnotation", { sessionId, body }),
    readPageScript: (sessionId) => services.ask("readPageScript", { sessionId }),
    storeDownload: (sessionId, name, bytes) => services.ask("storeDownload", { sessionId, name, bytes }),
  });
  const evidence = {
    save: (picture: ServiceCalls["saveEvidence"]["args"]) => services.ask("saveEvidence", picture),
  };
  const pages = createPageTools({
    browser: browsers,
    control,
    pageTurns: createPageTurns(),
    scripts,
    snapshots: createSnapshotBook(),
    evidence,
    files: (sessionId) => ({
      read: (path, bytesMax) => services.ask("readFile", { sessionId, path, bytesMax }),
      async write(path, bytes) {
        await services.ask("writeFile", { sessionId, path, bytes });
      },
    }),
    scriptHelpers: (call) => createHelpers(host, call),
    variants: createVariantView({
      readRevision: (sessionId, variant) => services.ask("readRevision", { sessionId, variant }),
      readShown: (sessionId) => services.ask("readShown", { sessionId }),
    }),
  });
  const variants = createVariantPages({
    browser: browsers,
    evidence,
    compare: createPictureComparer(),
    scriptOrigin,
  });
  return { browsers, pages, variants };
}

/** A call at the host, with the names of the functions that its script may call. */
type HostCall = ToolCall & { helpers: string[] };

function createHelpers({ callers }: Host, call: ToolCall) {
  const names = (call as HostCall).helpers;
  return Object.fromEntries(
    names.map((name) => [
      name,
      async (...args: unknown[]) => {
        const link = callers.get(call.callId);
        if (!link) throw new Error(`page.${name}: the service was restarted`);
        return link.call("callHelper", { callId: call.callId, name, args });
      },
    ]),
  );
}

const toToolCall = (call: SentCall, signal: AbortSignal): HostCall => ({
  ...call,
  callId: call.callId ?? "",
  epoch: call.epoch ?? undefined,
  isPersonPresent: false,
  hasTool: () => false,
  signal,
});

function createHandlers(host: Host, ownLink: () => Link<ServiceCalls>): LinkHandlers<HostCalls> {
  const { deps, services, control, calls, lease } = host;
  const running = async () => {
    if (!host.running) throw new Error("the process is not attached");
    return host.running;
  };
  const browsers = async () => (await running()).browsers;

  /** Runs the work of a call, which outlives the link: the run may be resumed by another process. */
  async function work(
    call: SentCall,
    incoming: IncomingCall<never>,
    act: (call: HostCall) => ReturnType<PageTools["run"]>,
  ) {
    lease.check();
    if (call.callId !== null) host.callers.set(call.callId, ownLink());
    const stop = () => {
      const reason = incoming.signal.reason as Error;
      if (reason.name !== "LinkEndedError") calls.end(call, reason);
    };
    incoming.signal.addEventListener("abort", stop, { once: true });
    try {
      return await calls.run(call, (signal) => act(toToolCall(call, signal)));
    } finally {
      incoming.signal.removeEventListener("abort", stop);
      if (call.callId !== null) host.callers.delete(call.callId);
    }
  }

  return {
    async attach(settings) {
      const starting = startOnce(host, settings);
      // Before the parts have started: the end of earlier browsers is recorded through this link.
      services.add(ownLink());
      const { browsers: own } = await starting;
      lease.renewNow();
      const { available, detail } = own.describe();
      const { refusal } = deps.scripts;
      return {
        id: deps.id,
        browser: { available, detail },
        scripts: { refusal, detail: deps.scripts.describe().detail },
      } satisfies HostInfo;
    },
    async hold({ sessionId, browserSessionId }, { signal, send }) {
      lease.check();
      const { pages } = await running();
      const release = await pages.hold({ sessionId, browserSessionId, signal });
      await untilAborted(signal, () => send("held")).finally(release);
      return null;
    },
    async lease(_, { signal, send }) {
      const leased = await (await browsers()).lease(signal);
      const leaseId = crypto.randomUUID();
      const { executablePath, args, env, proxyPort } = leased;
      leases.set(leaseId, leased.listRefusals);
      await untilAborted(signal, () => send({ leaseId, executablePath, args, env, proxyPort })).finally(
        () => {
          leases.delete(leaseId);
          return leased.release();
        },
      );
      return null;
    },
    listLeaseRefusals: async ({ leaseId }) => leases.get(leaseId)?.() ?? [],
    async warmUp() {
      (await browsers()).warmUp();
      return null;
    },
    open: async ({ sessionId }) => (await browsers()).open(sessionId),
    async goTo({ sessionId, url, retargets }) {
      await (await browsers()).goTo(sessionId, url, retargets);
      return null;
    },
    navigate: async ({ sessionId, url }, { signal }) => (await browsers()).navigate(sessionId, url, signal),
    history: async ({ sessionId, action }) => (await browsers()).history(sessionId, action),
    async refreshPageScripts({ sessionIds }) {
      await (await browsers()).refreshPageScripts(sessionIds);
      return null;
    },
    async settle({ sessionId }) {
      await (await browsers()).settle(sessionId);
      return null;
    },
    async touch({ sessionId }) {
      (await browsers()).touch(sessionId);
      return null;
    },
    async watch({ sessionId }, { signal, send }) {
      const frames = createNewestFirst(send);
      const stop = (await browsers()).watch(sessionId, {
        onFrame: frames.push,
        onPointer: (pointer) => void send({ pointer }),
      });
      await untilAborted(signal).finally(stop);
      return null;
    },
    async input({ sessionId, input }) {
      lease.check();
      await (await browsers()).input(sessionId, input);
      return null;
    },
    readCursor: async ({ sessionId, x, y }) => (await browsers()).readCursor(sessionId, x, y),
    reapIdle: async ({ recorded }) => (await browsers()).reapIdle(recorded),
    async closeSession({ sessionId }) {
      await (await browsers()).closeSession(sessionId);
      return null;
    },
    async handOver({ sessionId }) {
      (await browsers()).handOver(sessionId);
      return null;
    },
    offerPlaces: async ({ count }) => (host.isDraining ? 0 : (await browsers()).offerPlaces(count)),
    async control({ claims }) {
      control.apply(claims);
      return null;
    },
    runTool: async ({ name, input, call }, incoming) => {
      const { pages } = await running();
      return work(call, incoming, (own) => pages.run(name, input, own));
    },
    recover: ({ call }) => calls.recover(call),
    async firstLook({ sessionId, browserSessionId }, { signal }) {
      lease.check();
      return (await running()).pages.firstLook({ sessionId, browserSessionId }, signal);
    },
    async checkAccessibility({ request, call }, { signal, send }) {
      lease.check();
      const { pages } = await running();
      return pages.checkAccessibility(
        request,
        toToolCall(call, signal),
        (done, total, message) => void send({ done, total, message }),
      );
    },
    async variant({ work: name, input, call }, { signal }) {
      lease.check();
      const { variants } = await running();
      const run = variants[name] as (input: unknown, call: ToolCall) => Promise<unknown>;
      return run(input, toToolCall(call, signal));
    },
    async leave({ isFinal }) {
      if (!isFinal || services.count() > 1) return null;
      // The end of the browsers is recorded through the link that asks for it.
      await (await host.running)?.browsers.close();
      setImmediate(() => deps.onIdle("the service has ended"));
      return null;
    },
  };
}

/** Functions that list what a leased browser was refused, by the id of the lease. */
const leases = new Map<string, BrowserLease["listRefusals"]>();

/** Does something, and then waits until the signal fires. */
async function untilAborted(signal: AbortSignal, act?: () => Promise<void>): Promise<void> {
  await act?.();
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Sends one frame at a time. If frames arrive faster than they leave, sends only the newest of them. */
function createNewestFirst(send: (item: HostCalls["watch"]["item"]) => Promise<void>) {
  type Frame = Extract<HostCalls["watch"]["item"], { frame: unknown }>["frame"];
  let waiting: Frame | undefined;
  let isSending = false;
  return {
    async push(frame: Frame) {
      waiting = frame;
      if (isSending) return;
      isSending = true;
      while (waiting) {
        const next: Frame = waiting;
        waiting = undefined;
        await send({ frame: next });
      }
      isSending = false;
    },
  };
}
