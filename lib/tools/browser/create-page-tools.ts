import { errorResult } from "../tool.ts";
import { checkAccessibility } from "./accessibility/check-page.ts";
import { handedBack } from "./handover/handed-back.ts";
import { HANDED_OVER } from "./handover/handed-over.ts";
import { whileShared } from "./handover/while-shared.ts";
import type { HostServices } from "./host-services.ts";
import type { PageTool } from "./page-tool.ts";
import type { PageTools } from "./page-tools.ts";
import { capturePreview } from "./picture/capture-preview.ts";
import { screenshot } from "./picture/screenshot.ts";
import { browserSearch } from "./read/browser-search.ts";
import { domQuery } from "./read/dom-query.ts";
import { createFirstLook } from "./read/first-look.ts";
import { inspectFrames } from "./read/inspect-frames.ts";
import { saveCleanedHtml } from "./read/save-cleaned-html.ts";
import { browserExecute } from "./script/browser-execute.ts";

/** The tools whose work is done at the browser host. */
export const PAGE_TOOLS: readonly PageTool<HostServices>[] = [
  browserExecute,
  browserSearch,
  domQuery,
  inspectFrames,
  capturePreview,
  saveCleanedHtml,
  screenshot,
];

/** The tools of {@link PAGE_TOOLS}, and the work on a page of a tool whose rest is done by the service. */
const HOST_TOOLS = [...PAGE_TOOLS, handedBack];

/** Creates the work of tools on live pages, for the process that runs the browsers. */
export function createPageTools(services: HostServices): PageTools {
  const tools = new Map(HOST_TOOLS.map((make) => [make.definition.name, make(services)]));
  const { browser, control, pageTurns, recorder, scripts } = services;
  const look = createFirstLook(services);
  return {
    async hold(call) {
      const endTurn = await pageTurns.take(call, call.signal);
      try {
        const release = await browser.hold(call.browserSessionId, call.signal);
        return () => {
          release();
          endTurn();
        };
      } catch (error) {
        endTurn();
        throw error;
      }
    },
    async run(name, input, call) {
      const tool = tools.get(name);
      if (!tool) throw new Error(`there is no tool ${name} on live pages`);
      const result = await whileShared(control, call, (shared) => tool.execute(input, shared));
      if (result === undefined) return errorResult(HANDED_OVER);
      if (tool.changes) await recorder.note(call);
      // Only the agent of the session is told what people did: another agent's call must not use the note up.
      const deeds = call.runId === null ? undefined : await control.takeNote(call.browserSessionId);
      const notes = [
        deeds,
        browser.takeRestartNote(call.browserSessionId),
        browser.takeViewportNote(call.browserSessionId),
      ].flatMap((text) => (text === undefined ? [] : [{ type: "text" as const, text }]));
      return { ...result, content: [...notes, ...result.content] };
    },
    // The host keeps the results of calls, see `lib/browser-host/host/call-register.ts`.
    recover: async () => undefined,
    async firstLook(session, signal) {
      if (control.isPrivate(session.browserSessionId)) return HANDED_OVER;
      const seen = await look(session, signal);
      if (control.isPrivate(session.browserSessionId)) return HANDED_OVER;
      await recorder.note({ browserSessionId: session.browserSessionId, runId: null, callId: null });
      return seen;
    },
    async checkAccessibility(request, call, onProgress) {
      const result = await whileShared(control, call, (shared) =>
        checkAccessibility(browser, request, shared, onProgress),
      );
      if (result === undefined) throw new Error(HANDED_OVER);
      return result;
    },
    describeScripts: () => ({ refusal: scripts.refusal, detail: scripts.describe().detail }),
  };
}
