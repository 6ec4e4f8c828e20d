import type { Link } from "#lib/host-link/link.ts";
import { LinkEndedError } from "#lib/host-link/link-message.ts";
import type { HostServices } from "#lib/tools/browser/host-services.ts";
import type { PageCall, PageTools } from "#lib/tools/browser/page-tools.ts";
import { describeFailure } from "#lib/tools/describe-failure.ts";
import type { ToolCall, ToolResult } from "#lib/tools/tool.ts";
import type { VariantPages } from "#lib/variant/variant-pages.ts";
import type { HostCalls, SentCall } from "../host-calls.ts";
import { callAtHost } from "./at-host.ts";
import type { BrowserHosts } from "./browser-hosts.ts";

const HOST_ENDED =
  "The connection to the browser ended while the call ran. What the call did until then stands. Look at the page before you go on.";

type RemotePagesDeps = {
  hosts: BrowserHosts;
  /** The functions of this process that a script of a call can call. */
  scriptHelpers: HostServices["scriptHelpers"];
  describeScripts: PageTools["describeScripts"];
};

const toSentCall = (
  { sessionId, browserSessionId, rootSessionId, requestId, runId, callId, epoch }: PageCall,
  helpers: string[] = [],
): SentCall => ({
  sessionId,
  browserSessionId,
  rootSessionId,
  requestId,
  runId,
  callId,
  epoch: epoch ?? null,
  helpers,
});

/** The work of tools on live pages, at the sessions' hosts. */
export function createRemotePageTools({ hosts, scriptHelpers, describeScripts }: RemotePagesDeps): PageTools {
  async function recover(call: ToolCall): Promise<ToolResult | undefined> {
    const host = await hosts.find(call.browserSessionId);
    return (await host?.link.call("recover", { call: toSentCall(call) })) ?? undefined;
  }

  return {
    hold({ sessionId, browserSessionId, signal }) {
      const hold = (link: Link<HostCalls>) => holdAt(link, { sessionId, browserSessionId }, signal);
      return callAtHost(hosts, browserSessionId, hold, { signal, isRepeatable: true });
    },
    async run(name, input, call: ToolCall) {
      const helpers = scriptHelpers(call);
      hosts.helpers.set(call.callId, helpers);
      try {
        const sent = toSentCall(call, Object.keys(helpers));
        return await callAtHost(
          hosts,
          call.browserSessionId,
          (link) => link.call("runTool", { name, input, call: sent }, { signal: call.signal }),
          { signal: call.signal },
        );
      } catch (error) {
        if (!(error instanceof LinkEndedError)) throw error;
        // If only the connection ended, the call still runs. It must end before the agent's next call.
        const result = await recover(call).catch(() => undefined);
        if (result) return result;
        throw new Error(HOST_ENDED, { cause: error });
      } finally {
        hosts.helpers.delete(call.callId);
      }
    },
    recover,
    async firstLook({ sessionId, browserSessionId }, signal) {
      try {
        return await callAtHost(
          hosts,
          browserSessionId,
          (link) => link.call("firstLook", { sessionId, browserSessionId }, { signal }),
          { signal },
        );
      } catch (error) {
        return `The page could not be read: ${describeFailure(error)}`;
      }
    },
    async checkAccessibility(request, call, onProgress) {
      const options = {
        signal: call.signal,
        onItem: ({ done, total, message }: HostCalls["checkAccessibility"]["item"]) =>
          onProgress(done, total, message),
      };
      const sent = { request, call: toSentCall(call) };
      return callAtHost(
        hosts,
        call.browserSessionId,
        (link) => link.call("checkAccessibility", sent, options),
        { signal: call.signal },
      );
    },
    describeScripts,
  };
}

/** Holds a browser at its host. @returns a function that releases it. */
async function holdAt(
  link: Link<HostCalls>,
  session: HostCalls["hold"]["args"],
  signal: AbortSignal,
): Promise<() => void> {
  const released = new AbortController();
  const { promise: held, resolve, reject } = Promise.withResolvers<void>();
  // After the browser is held, a stop of the call does not release it; the caller does.
  const stop = () => released.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  link.call("hold", session, { signal: released.signal, onItem: () => resolve() }).catch(reject);
  try {
    await held;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  return () => released.abort(new Error("the call has ended"));
}

const VARIANT_WORK = ["readUrl", "ground", "picture", "check", "previews"] as const;

/** The work on live pages that variants need, at the sessions' hosts. */
export function createRemoteVariantPages(hosts: BrowserHosts): VariantPages {
  const work = VARIANT_WORK.map((name) => [
    name,
    async (input: unknown, call: PageCall) => {
      const sent = { work: name, input, call: toSentCall(call) };
      return callAtHost(
        hosts,
        call.browserSessionId,
        (link) => link.call("variant", sent, { signal: call.signal }),
        { signal: call.signal },
      );
    },
  ]);
  // The cast is safe: the host answers each work with the result of the function of this name.
  return Object.fromEntries(work) as VariantPages;
}
