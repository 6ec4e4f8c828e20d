import type { ToolServices } from "../services.ts";
import { type Tool, type ToolCall, waitFor } from "../tool.ts";
import { capturePreview } from "./picture/capture-preview.ts";
import { screenshot } from "./picture/screenshot.ts";
import { browserSearch } from "./read/browser-search.ts";
import { domQuery } from "./read/dom-query.ts";
import { inspectFrames } from "./read/inspect-frames.ts";
import { saveCleanedHtml } from "./read/save-cleaned-html.ts";
import { browserExecute } from "./script/browser-execute.ts";

/**
 * The tools that work on the live browser. Each call acquires the browser before it starts, and releases the browser
 * when it ends. While a person has control of the browser, a turn that calls `browser_execute` waits until the person
 * has no control any more, or until a message interrupts the wait.
 */
export function browserTools(services: BrowserToolServices): Tool[] {
  const { control } = services;
  return makeTools(services).map((tool) => ({
    ...tool,
    async acquire(call) {
      const { browserSessionId, runId, waitEndedBy, signal } = call;
      const mustWait =
        control.holderOf(browserSessionId) !== undefined && waitEndedBy !== "message" && !signal.aborted;
      if (tool.name === "browser_execute" && runId !== null && mustWait)
        return waitFor({ kind: "control", subjects: [], deadlineAt: null });
      return holdInTurn(services, call);
    },
  }));
}

/**
 * Acquires the browser and the page for a call, and returns a function that releases both. Calls of different agents
 * that share a page run one after another.
 */
export async function holdInTurn(
  { browser, pageTurns }: Pick<ToolServices, "browser" | "pageTurns">,
  call: Pick<ToolCall, "browserSessionId" | "sessionId" | "signal">,
): Promise<() => void> {
  const { browserSessionId, signal } = call;
  const endTurn = await pageTurns.take(call, signal);
  try {
    const release = await browser.hold(browserSessionId, signal);
    return () => {
      release();
      endTurn();
    };
  } catch (error) {
    endTurn();
    throw error;
  }
}

type BrowserToolServices = Pick<
  ToolServices,
  | "browser"
  | "control"
  | "pageTurns"
  | "scripts"
  | "sandbox"
  | "evidence"
  | "snapshots"
  | "scriptHelpers"
  | "variants"
>;

function makeTools(services: BrowserToolServices): Tool[] {
  return [
    browserExecute(services, services.scriptHelpers),
    browserSearch(services),
    domQuery(services),
    inspectFrames(services),
    capturePreview(services),
    saveCleanedHtml(services),
    screenshot(services),
  ];
}
