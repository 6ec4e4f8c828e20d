import type { BrowserService, HostBrowsers } from "../browser-service.ts";
import { NOT_IN_CONTROL } from "../stage/stage-state.ts";
import type { ControlLeases } from "./control-leases.ts";

/** What people do with the browsers of a host. A connection without control has no effect on a page. */
type ControlledCalls = Pick<BrowserService, "drive" | "copy" | "paste" | "setViewport" | "act" | "control">;

type ControlledCallsDeps = {
  control: Pick<ControlLeases, "admit" | "request">;
  browsers: () => Promise<Pick<HostBrowsers, "input" | "copy" | "paste" | "setViewport" | "act">>;
  /** Returns what stands for the process whose connections call. */
  via: () => object;
};

/** Creates the calls of the connections of one process. */
export function createControlledCalls({ control, browsers, via }: ControlledCallsDeps): ControlledCalls {
  const admit = (sessionId: string, connectionId: string) => control.admit(sessionId, connectionId, via());
  return {
    async drive(sessionId, connectionId, input) {
      const mayPass = admit(sessionId, connectionId);
      if (mayPass) await (await browsers()).input(sessionId, input, mayPass);
    },
    async copy(sessionId, connectionId, action) {
      const mayPass = admit(sessionId, connectionId);
      return mayPass ? (await browsers()).copy(sessionId, action, mayPass) : null;
    },
    async paste(sessionId, connectionId, items) {
      const mayPass = admit(sessionId, connectionId);
      if (!mayPass) return NOT_IN_CONTROL;
      return (await browsers()).paste(sessionId, items, mayPass);
    },
    async setViewport(sessionId, connectionId, change) {
      const own = await browsers();
      if (admit(sessionId, connectionId)) await own.setViewport(sessionId, change);
    },
    async act(sessionId, connectionId, action) {
      const own = await browsers();
      return admit(sessionId, connectionId) ? own.act(sessionId, action) : NOT_IN_CONTROL;
    },
    control: (sessionId, request) => control.request(sessionId, request, via()),
  };
}
