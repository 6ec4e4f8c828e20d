import type { ToolServices } from "../services.ts";
import { type Tool, waitFor } from "../tool.ts";
import { browserSearch } from "./look/browser-search.ts";
import { domQuery } from "./look/dom-query.ts";
import { inspectFrames } from "./look/inspect-frames.ts";
import { saveCleanedHtml } from "./look/save-cleaned-html.ts";
import { capturePreview } from "./picture/capture-preview.ts";
import { screenshot } from "./picture/screenshot.ts";
import { browserExecute } from "./script/browser-execute.ts";

/**
 * The tools that work on the live browser. Each call holds the browser from before its start until its end; a script of a
 * turn waits before that for as long as a person has control.
 */
export function browserTools(services: BrowserToolServices): Tool[] {
  const { browser, control } = services;
  return makeTools(services).map((tool) => ({
    ...tool,
    async acquire({ sessionId, runId, waitEndedBy, signal }) {
      const isKept =
        control.holderOf(sessionId) !== undefined && waitEndedBy !== "message" && !signal.aborted;
      if (tool.name === "browser_execute" && runId !== null && isKept)
        return waitFor({ kind: "control", subjects: [], deadlineAt: null });
      return browser.hold(sessionId, signal);
    },
  }));
}

type BrowserToolServices = Pick<
  ToolServices,
  "browser" | "control" | "scripts" | "sandbox" | "evidence" | "snapshots"
>;

function makeTools(services: BrowserToolServices): Tool[] {
  return [
    browserExecute(services),
    browserSearch(services),
    domQuery(services),
    inspectFrames(services),
    capturePreview(services),
    saveCleanedHtml(services),
    screenshot(services),
  ];
}
