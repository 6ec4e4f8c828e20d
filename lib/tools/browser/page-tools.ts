import type { ToolCall, ToolResult } from "../tool.ts";
import type { AccessibilityRequest, AccessibilityResult } from "./accessibility/accessibility-result.ts";

/** What a call on the live page is about. */
export type PageCall = Pick<
  ToolCall,
  "sessionId" | "browserSessionId" | "rootSessionId" | "requestId" | "runId" | "epoch" | "signal"
> & {
  /** Null for a call that a person has made. */
  callId: string | null;
};

/** Reports the progress of a long call. */
export type OnProgress = (done: number, total: number, message: string) => void;

/** The work of tools on the live pages of sessions, which is done at the sessions' browser hosts. */
export type PageTools = {
  /**
   * Acquires the browser and the page for a call. Starts the browser if none runs. Calls of different agents that share
   * a page run one after another.
   * @returns a function that releases both. @throws Error with a readable message; the reason of the signal if the call
   * is stopped.
   */
  hold: (call: Pick<PageCall, "browserSessionId" | "sessionId" | "signal">) => Promise<() => void>;
  /** Runs the tool of this name. */
  run: (name: string, input: unknown, call: ToolCall) => Promise<ToolResult>;
  /** @see Tool.recover */
  recover: (call: ToolCall) => Promise<ToolResult | undefined>;
  /**
   * Reads the session's page before the first model call of a turn. If all browsers are in use, waits for one.
   * @returns the text for the model. A host rejects with an ElsewhereError if another host has the session's browser.
   */
  firstLook: (
    session: Pick<PageCall, "sessionId" | "browserSessionId">,
    signal: AbortSignal,
  ) => Promise<string>;
  checkAccessibility: (
    request: AccessibilityRequest,
    call: PageCall,
    onProgress: OnProgress,
  ) => Promise<AccessibilityResult>;
  /** Why scripts cannot run; undefined if they can. Tools that need scripts are then not offered. */
  describeScripts: () => { refusal: string | undefined; detail: string };
};
