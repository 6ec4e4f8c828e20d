import { LinkEndedError } from "#lib/host-link/link-message.ts";
import type { HostServices } from "#lib/tools/browser/host-services.ts";
import type { PageCall, PageTools } from "#lib/tools/browser/page-tools.ts";
import { describeFailure } from "#lib/tools/describe-failure.ts";
import type { ToolCall, ToolResult } from "#lib/tools/tool.ts";
import type { VariantPages } from "#lib/variant/variant-pages.ts";
import type { SentCall } from "../host-calls.ts";
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
  const linkOf = async (sessionId: string) => (await hosts.of(sessionId)).link;

  async function recover(call: ToolCall): Promise<ToolResult | undefined> {
    const host = await hosts.find(call.browserSessionId);
    return (await host?.link.call("recover", { call: toSentCall(call) })) ?? undefined;
  }

  return {
    async hold({ sessionId, browserSessionId, signal }) {
      const link = await linkOf(browserSessionId);
      const released = new AbortController();
      const { promise: held, resolve, reject } = Promise.withResolvers<void>();
      // After the browser is held, a stop of the call does not release it; the caller does.
      const stop = () => released.abort(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      link
        .call("hold", { sessionId, browserSessionId }, { signal: released.signal, onItem: () => resolve() })
        .catch(reject);
      try {
        await held;
      } finally {
        signal.removeEventListener("abort", stop);
      }
      return () => released.abort(new Error("the call has ended"));
    },
    async run(name, input, call: ToolCall) {
      const link = await linkOf(call.browserSessionId);
      const helpers = scriptHelpers(call);
      hosts.helpers.set(call.callId, helpers);
      try {
        const sent = toSentCall(call, Object.keys(helpers));
        return await link.call("runTool", { name, input, call: sent }, { signal: call.signal });
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
        const link = await linkOf(browserSessionId);
        return await link.call("firstLook", { sessionId, browserSessionId }, { signal });
      } catch (error) {
        return `The page could not be read: ${describeFailure(error)}`;
      }
    },
    async checkAccessibility(request, call, onProgress) {
      const link = await linkOf(call.browserSessionId);
      return link.call(
        "checkAccessibility",
        { request, call: toSentCall(call) },
        {
          signal: call.signal,
          onItem: ({ done, total, message }) => onProgress(done, total, message),
        },
      );
    },
    describeScripts,
  };
}

const VARIANT_WORK = ["readUrl", "ground", "picture", "check", "previews"] as const;

/** The work on live pages that variants need, at the sessions' hosts. */
export function createRemoteVariantPages(hosts: BrowserHosts): VariantPages {
  const work = VARIANT_WORK.map((name) => [
    name,
    async (input: unknown, call: PageCall) => {
      const { link } = await hosts.of(call.browserSessionId);
      const sent = { work: name, input, call: toSentCall(call) };
      return link.call("variant", sent, { signal: call.signal });
    },
  ]);
  // The cast is safe: the host answers each work with the result of the function of this name.
  return Object.fromEntries(work) as VariantPages;
}
