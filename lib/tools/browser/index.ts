import type { ToolServices } from "../services.ts";
import { type Tool, waitFor } from "../tool.ts";
import { PAGE_TOOLS } from "./create-page-tools.ts";

/**
 * The tools that work on the live browser. Each call acquires the browser before it starts, and releases the browser
 * when it ends. While a person has control of the browser, a turn that calls `browser_execute` waits until the person
 * has no control any more, or until a message interrupts the wait. The work is done at the browser host.
 */
export function browserTools({ pages, control }: Pick<ToolServices, "pages" | "control">): Tool[] {
  return PAGE_TOOLS.map(({ definition }) => ({
    ...definition,
    async acquire(call) {
      const { browserSessionId, runId, waitEndedBy, signal } = call;
      const mustWait =
        control.holderOf(browserSessionId) !== undefined && waitEndedBy !== "message" && !signal.aborted;
      if (definition.name === "browser_execute" && runId !== null && mustWait)
        return waitFor({ kind: "control", subjects: [], deadlineAt: null });
      return pages.hold(call);
    },
    recover: pages.recover,
    execute: (input, call) => pages.run(definition.name, input, call),
  }));
}
