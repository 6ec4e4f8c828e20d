import type { Link } from "#lib/host-link/link.ts";
import type { LinkEndedError } from "#lib/host-link/link-message.ts";
import type { HostServices } from "#lib/tools/browser/host-services.ts";
import type { ToolCall } from "#lib/tools/tool.ts";
import type { SentCall, ServiceCalls } from "../host-calls.ts";

/** A call at the host, with the names of the functions that its script may call. */
export type HostCall = ToolCall & { helpers: string[] };

/** The processes that wait for running calls. They run the functions that the calls' scripts call. */
export type ScriptCallers = {
  /** Notes the process that waits for a call. @returns a function that ends this. */
  note: (call: SentCall, link: Link<ServiceCalls>) => () => void;
  helpers: HostServices["scriptHelpers"];
};

/** @see ScriptCallers */
export function createScriptCallers(): ScriptCallers {
  const callers = new Map<string, Link<ServiceCalls>>();

  async function callHelper(callId: string, name: string, args: unknown[]): Promise<unknown> {
    const link = callers.get(callId);
    if (!link?.isOpen()) throw new Error(`page.${name} was not called: the service was restarted`);
    try {
      return await link.call("callHelper", { callId, name, args });
    } catch (error) {
      if ((error as Error).name !== ("LinkEndedError" satisfies LinkEndedError["name"])) throw error;
      throw new Error(`page.${name} was interrupted by a restart of the service: it may have had an effect`);
    }
  }

  return {
    note({ callId }, link) {
      if (callId === null) return () => {};
      callers.set(callId, link);
      return () => {
        if (callers.get(callId) === link) callers.delete(callId);
      };
    },
    helpers(call) {
      // The cast is safe: every call at a host is created by the handlers of the host.
      const { callId, helpers } = call as HostCall;
      return Object.fromEntries(
        helpers.map((name) => [name, (...args: unknown[]) => callHelper(callId, name, args)]),
      );
    },
  };
}
