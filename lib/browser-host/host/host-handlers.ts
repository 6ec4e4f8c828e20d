import { freeState } from "#lib/browser/view/control-state.ts";
import { createControlledCalls } from "#lib/browser/view/controlled-calls.ts";
import type { HostControl } from "#lib/browser/view/host-control.ts";
import type { IncomingCall, Link, LinkHandlers } from "#lib/host-link/link.ts";
import { LinkEndedError } from "#lib/host-link/link-message.ts";
import { PAGE_TOOLS } from "#lib/tools/browser/create-page-tools.ts";
import type { ToolCall } from "#lib/tools/tool.ts";
import type { HostCalls, HostInfo, HostSettings, SentCall, ServiceCalls } from "../host-calls.ts";
import type { AttachedServices } from "./attached-services.ts";
import type { CallRegister } from "./call-register.ts";
import type { HostLease } from "./host-lease.ts";
import type { HostTests } from "./host-tests.ts";
import type { KeptLeases } from "./kept-leases.ts";
import { createNewestFirst } from "./newest-first.ts";
import type { HostCall, ScriptCallers } from "./script-callers.ts";
import type { ServiceOrigins } from "./service-origins.ts";
import type { StartedBrowsers } from "./start-browsers.ts";

/** What the answers to the calls of processes need. All links of a host share it. */
type HandlerDeps = {
  services: AttachedServices;
  origins: ServiceOrigins;
  control: HostControl;
  calls: CallRegister;
  callers: ScriptCallers;
  lease: HostLease;
  leases: KeptLeases;
  /** Undefined if the tests of the service run elsewhere: on its own machine, or in the box without this host. */
  tests: HostTests | undefined;
  /** Creates the browsers, or returns those that were created for another process. */
  start: (settings: HostSettings) => Promise<StartedBrowsers>;
  /** @throws Error if no process has attached. */
  started: () => Promise<StartedBrowsers>;
  isDraining: () => boolean;
  /** Whether the host is about to end. */
  isEnding: () => boolean;
  describeHost: () => Pick<HostInfo, "id" | "scripts">;
  /** Ends the browsers and then the host. Resolves when the browsers have ended. */
  end: (reason: string) => Promise<void>;
};

/** Creates the answers to the calls of one process of the service. */
export function createHandlers(
  deps: HandlerDeps,
  ownLink: () => Link<ServiceCalls>,
): LinkHandlers<HostCalls> {
  return {
    ...createAttachHandlers(deps, ownLink),
    ...createPlaceHandlers(deps),
    ...createTestHandlers(deps),
    ...createBrowserHandlers(deps),
    ...createControlHandlers(deps, ownLink),
    ...createWorkHandlers(deps, ownLink),
  };
}

type Handlers<Names extends keyof HostCalls> = Pick<LinkHandlers<HostCalls>, Names>;

function createAttachHandlers(
  { services, origins, control, lease, isEnding, start, describeHost, end }: HandlerDeps,
  ownLink: () => Link<ServiceCalls>,
): Handlers<"attach" | "leave"> {
  return {
    async attach(settings) {
      // A browser that started now would end with the host.
      if (isEnding()) throw new LinkEndedError("the browser host ends");
      const link = ownLink();
      origins.add(link, settings.ownOrigin);
      const starting = start(settings);
      // Before the browsers have started: the end of earlier ones is recorded through this link.
      services.add(link);
      void link.ended.then(() => control.forgetLink(link));
      const { browsers } = await starting;
      // Calls are refused until the lease of a host that was alone is renewed.
      await lease.renewNow();
      const { available, detail } = browsers.describe();
      return { ...describeHost(), browser: { available, detail }, control: control.list() };
    },
    async leave({ isFinal }) {
      services.noteLeaving(ownLink());
      // The end of the browsers is recorded through the link that asks for it.
      if (isFinal && services.countStaying() === 0) await end("the service has ended");
      return null;
    },
  };
}

const LEFT = "LinkEndedError" satisfies LinkEndedError["name"];

function createPlaceHandlers({
  calls,
  lease,
  leases,
  tests,
  started,
}: HandlerDeps): Handlers<"hold" | "lease" | "listLeaseRefusals"> {
  return {
    async hold({ sessionId, browserSessionId }, { signal, send }) {
      lease.check();
      const { pages } = await started();
      const release = await pages.hold({ sessionId, browserSessionId, signal });
      try {
        await send("held");
        await untilAborted(signal);
        // The calls of a run outlive their link, and still work on the page.
        if (signal.reason instanceof LinkEndedError) await calls.untilEnded(sessionId);
      } finally {
        release();
      }
      return null;
    },
    async lease({ id }, { signal, send }) {
      const { browsers } = await started();
      const leased = await leases.take(id, async () => {
        const own = await browsers.lease(signal);
        return {
          ...own,
          async release() {
            // The proxy ends after the tests.
            await tests?.remove(id);
            await own.release();
          },
        };
      });
      const { executablePath, args, env, identity, proxyPort } = leased;
      try {
        await send({ leaseId: id, executablePath, args, env, identity, proxyPort });
        await untilAborted(signal);
      } finally {
        // A process that ends gives the name of this error; links keep names, but not classes.
        await leases.leave(id, (signal.reason as Error).name === LEFT);
      }
      return null;
    },
    listLeaseRefusals: async ({ leaseId }) => leases.listRefusals(leaseId),
  };
}

/** Creates the calls about tests that run at this host. */
function createTestHandlers({
  leases,
  tests,
}: HandlerDeps): Handlers<"addTestFiles" | "runTests" | "hasTests" | "readTestFile" | "listChangedFiles"> {
  const leased = (leaseId: string) => {
    leases.check(leaseId);
    if (!tests) throw new Error("this browser host runs no tests");
    return tests;
  };
  return {
    async addTestFiles({ leaseId, files }) {
      await leased(leaseId).add(leaseId, files);
      return null;
    },
    runTests: async ({ leaseId, ...program }, { signal }) => leased(leaseId).run(leaseId, program, signal),
    hasTests: async ({ leaseId }) => tests?.hasRun(leaseId) ?? false,
    readTestFile: async ({ leaseId, path, limitBytes }) => leased(leaseId).read(leaseId, path, limitBytes),
    listChangedFiles: async ({ leaseId }) => leased(leaseId).listChanged(leaseId),
  };
}

type BrowserNames =
  | "warmUp"
  | "open"
  | "goTo"
  | "navigate"
  | "history"
  | "refreshPageScripts"
  | "settle"
  | "touch"
  | "watch"
  | "findElements"
  | "locateTarget"
  | "captureBoxes"
  | "readCursor"
  | "reapIdle"
  | "closeSession"
  | "handOver"
  | "offerPlaces";

/** Creates the calls that go to the browsers as they are. */
function createBrowserHandlers({ control, lease, started, isDraining }: HandlerDeps): Handlers<BrowserNames> {
  const browsers = async () => (await started()).browsers;
  /** For calls that act on pages. */
  const leased = () => {
    lease.check();
    return browsers();
  };
  return {
    async warmUp() {
      (await browsers()).warmUp();
      return null;
    },
    open: async ({ sessionId }) => (await leased()).open(sessionId),
    async goTo({ sessionId, url, retargets }) {
      await (await leased()).goTo(sessionId, url, retargets);
      return null;
    },
    navigate: async ({ sessionId, url }, { signal }) => (await leased()).navigate(sessionId, url, signal),
    history: async ({ sessionId, action }) => (await leased()).history(sessionId, action),
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
    async watch({ sessionId, hasStage }, { signal, send }) {
      const newest = createNewestFirst(send);
      const stop = (await browsers()).watch(sessionId, {
        onFrame: newest.frame,
        onPointer: newest.pointer,
        ...(hasStage && { onStage: newest.stage }),
      });
      await untilAborted(signal).finally(stop);
      return null;
    },
    findElements: async ({ sessionId, anchors }) => (await browsers()).findElements(sessionId, anchors),
    locateTarget: async ({ sessionId, part }) => (await browsers()).locateTarget(sessionId, part),
    captureBoxes: async ({ sessionId, boxes }) => (await browsers()).captureBoxes(sessionId, boxes),
    readCursor: async ({ sessionId, x, y }) => (await browsers()).readCursor(sessionId, x, y),
    reapIdle: async ({ recorded }) => (await browsers()).reapIdle(recorded),
    async closeSession({ sessionId }) {
      control.drop(sessionId);
      await (await browsers()).closeSession(sessionId);
      return null;
    },
    async handOver({ sessionId }) {
      control.drop(sessionId);
      (await browsers()).handOver(sessionId);
      return null;
    },
    offerPlaces: async ({ count }) => (isDraining() ? 0 : (await browsers()).offerPlaces(count)),
  };
}

/** Creates the calls about people's control of pages. */
function createControlHandlers(
  { control, lease, started }: HandlerDeps,
  ownLink: () => Link<ServiceCalls>,
): Handlers<"input" | "copy" | "paste" | "setViewport" | "act" | "control" | "readControl" | "readHandover"> {
  const controlled = createControlledCalls({
    control,
    async browsers() {
      lease.check();
      return (await started()).browsers;
    },
    via: ownLink,
  });
  return {
    async input({ sessionId, connectionId, input }) {
      await controlled.drive(sessionId, connectionId, input);
      return null;
    },
    copy: ({ sessionId, connectionId, action }) => controlled.copy(sessionId, connectionId, action),
    paste: ({ sessionId, connectionId, items }) => controlled.paste(sessionId, connectionId, items),
    async setViewport({ sessionId, connectionId, change }) {
      await controlled.setViewport(sessionId, connectionId, change);
      return null;
    },
    act: ({ sessionId, connectionId, action }) => controlled.act(sessionId, connectionId, action),
    async control({ sessionId, request }) {
      if (request.type === "take") lease.check();
      return controlled.control(sessionId, request);
    },
    readControl: async ({ sessionId }) => control.stateOf(sessionId) ?? null,
    async readHandover({ sessionId }) {
      await control.readHandover(sessionId);
      return control.stateOf(sessionId) ?? freeState(sessionId);
    },
  };
}

/** The tools that must not run twice: their results are kept. */
const ONCE = new Set(
  PAGE_TOOLS.flatMap(({ definition }) => (definition.idempotent ? [] : [definition.name])),
);

function createWorkHandlers(
  { calls, callers, lease, started }: HandlerDeps,
  ownLink: () => Link<ServiceCalls>,
): Handlers<"runTool" | "recover" | "firstLook" | "checkAccessibility" | "variant"> {
  /** Runs work that ends with its link. */
  const work = <Result>(
    call: SentCall,
    { signal }: Pick<IncomingCall<never>, "signal">,
    act: (call: HostCall) => Promise<Result>,
  ) => {
    lease.check();
    return calls.run(call, signal, (own) => act(toHostCall(call, own)));
  };
  return {
    async runTool({ name, input, call }, { signal }) {
      lease.check();
      const { pages } = await started();
      const forget = callers.note(call, ownLink());
      const run = ONCE.has(name) ? calls.runOnce : calls.run;
      return run(call, signal, (own) => pages.run(name, input, toHostCall(call, own))).finally(forget);
    },
    recover: ({ call }) => calls.recover(call),
    async firstLook({ sessionId, browserSessionId }, { signal }) {
      lease.check();
      return (await started()).pages.firstLook({ sessionId, browserSessionId }, signal);
    },
    async checkAccessibility({ request, call }, { signal, send }) {
      const { pages } = await started();
      return work(call, { signal }, (own) =>
        pages.checkAccessibility(request, own, (done, total, message) => void send({ done, total, message })),
      );
    },
    async variant({ work: name, input, call }, { signal }) {
      const { variants } = await started();
      // The cast is safe: both ends have the type of the function with this name.
      const act = variants[name] as (input: unknown, call: ToolCall) => Promise<unknown>;
      return work(call, { signal }, (own) => act(input, own));
    },
  };
}

const toHostCall = (call: SentCall, signal: AbortSignal): HostCall => ({
  ...call,
  callId: call.callId ?? "",
  epoch: call.epoch ?? undefined,
  mayAskPeople: false,
  hasTool: () => false,
  signal,
});

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
