import type { BrowserService, HostBrowsers } from "../browser-service.ts";
import { NOT_IN_CONTROL } from "../stage/stage-state.ts";
import type { HostControl } from "./host-control.ts";

/** What people do with the browsers of a host. A connection without control has no effect on a page. */
type ControlledCalls = Pick<BrowserService, "drive" | "copy" | "paste" | "setViewport" | "act" | "control">;

type ControlledCallsDeps = {
  control: Pick<HostControl, "admit" | "request" | "beforeInput">;
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
      if (!mayPass) return;
      // Without a handover, nothing is awaited, so that inputs are not delayed.
      const watched = control.beforeInput(sessionId, input);
      if (watched) await watched;
      await (await browsers()).input(sessionId, input, mayPass);
    },
    async copy(sessionId, connectionId, action) {
      const mayPass = admit(sessionId, connectionId);
      if (!mayPass) return null;
      const watched = control.beforeInput(sessionId);
      if (watched) await watched;
      return (await browsers()).copy(sessionId, action, mayPass);
    },
    async paste(sessionId, connectionId, items) {
      const mayPass = admit(sessionId, connectionId);
      if (!mayPass) return NOT_IN_CONTROL;
      const watched = control.beforeInput(sessionId);
      if (watched) await watched;
      return (await browsers()).paste(sessionId, items, mayPass);
    },
    async setViewport(sessionId, connectionId, change) {
      const own = await browsers();
      if (admit(sessionId, connectionId)) await own.setViewport(sessionId, change);
    },
    async act(sessionId, connectionId, action) {
      const own = await browsers();
      if (!admit(sessionId, connectionId)) return NOT_IN_CONTROL;
      const watched = control.beforeInput(sessionId);
      if (watched) await watched;
      return own.act(sessionId, action);
    },
    control: (sessionId, request) => control.request(sessionId, request, via()),
  };
}
