import type { z } from "zod";
import type { CallRefusal, RunOrigin, WaitEnd, WaitKind, WaitUntil } from "#db/schema/unions.ts";
import type { EvidencePointer } from "#lib/events/event.ts";

/**
 * What a tool cannot work without. `capabilities` removes the tools whose need is switched off; `delegation` tools are only
 * in sessions that may have sub-agents, `parent` tools only in sub-agents.
 */
export type ToolNeed = "browser" | "sandbox" | "delegation" | "parent";

/**
 * Where a tool belongs: `analysis` tools are in every session, `editing` tools are left out of a structured one
 * unless included, `always` tools stand outside the tool policy (planning, requirements, delegation, skills).
 */
export type ToolProfile = "analysis" | "editing" | "always";

/**
 * One piece of what a tool answers. Pictures are evidence rows; the model sees the bytes where it can. Other evidence is
 * named in the tool's record alone: its text says what the model is to know of it.
 */
export type ToolContent =
  | { type: "text"; text: string }
  | { type: "image"; evidence: EvidencePointer; data: Uint8Array }
  | { type: "evidence"; evidence: EvidencePointer };

/**
 * What a tool answers: shown to the model, and recorded whole. A failure is an answer too, and so is the `refusal` of a
 * call that was not run.
 */
export type ToolResult = { isError: boolean; content: ToolContent[]; refusal?: CallRefusal };

/**
 * What a tool answers that waits for something outside of the service. Its turn is parked, and the call is made again when
 * the wait has ended. Source: `architecture.md`, Turns that wait.
 */
export type Waiting = {
  status: "waiting";
  on: {
    kind: WaitKind;
    /** Ids of what it waits for. */
    subjects: string[];
    /** Whether one of them ends the wait (the default), or all of them together. */
    until?: WaitUntil;
    /** When the wait ends without it; null for never. */
    deadlineAt: Date | null;
  };
};

/** The call at hand. */
export type ToolCall = {
  sessionId: string;
  /** The session whose browser the call works on: for a sub-agent that shares a page, its parent's. */
  browserSessionId: string;
  /** The session whose workspace it works in: the root's, which all sub-agents share. */
  rootSessionId: string;
  /** Null, as is `runId`, where somebody else's agent calls from outside of any turn. */
  requestId: string | null;
  runId: string | null;
  callId: string;
  origin: RunOrigin;
  /** Whether this turn, or the holder of an MCP token, has a tool. */
  hasTool: (name: string) => boolean;
  /** How the wait of an earlier try of this call has ended, and what it waited for. */
  waitEndedBy?: WaitEnd | undefined;
  waitedFor?: readonly string[] | undefined;
  /** Fires when the turn is stopped or the service shuts down. */
  signal: AbortSignal;
};

/** A tool of the agent. `Services` are the ports it works through. */
export type Tool = {
  name: string;
  description: string;
  input: z.ZodType;
  /** What the model is told of the input, where that does not follow from `input`: JSON Schema, never compiled here. */
  jsonSchema?: Record<string, unknown>;
  needs: ToolNeed | undefined;
  profile: ToolProfile;
  /** Whether an interrupted call may simply be made again. */
  idempotent: boolean;
  /** Whether calls of one message may run side by side with others of this kind. */
  readOnly: boolean;
  /**
   * Whether a call only reads what this service has stored, which takes milliseconds. The model's answer with such a call
   * is recorded together with the result.
   */
  readsStore?: boolean | undefined;
  /**
   * Whether a call changes pages, files or publications. Such calls are refused while a person wants to agree to a plan
   * first. Source: `architecture.md`, Plan and requirements.
   */
  changes?: boolean | undefined;
  /** Longest a call may take, in milliseconds. */
  timeoutMs: number;
  /**
   * Waits for what the call works on, such as a live browser, before its deadline starts and before the call counts as
   * begun: a call that is interrupted here had no effect and is made again. @returns the way to give it back.
   * @throws Error with a sentence for the model; the signal's reason when the call is stopped.
   */
  acquire?: ((call: ToolCall) => Promise<(() => void) | Waiting>) | undefined;
  /**
   * Runs the call. Expected failures are results with `isError`; a throw is shown to the model as its message. Only an
   * idempotent call that belongs to a turn may answer that it waits.
   */
  execute: (input: unknown, call: ToolCall) => Promise<ToolResult | Waiting>;
};

type Answer = ToolResult | Waiting | string;
type ToolDefinition<Input extends z.ZodType, Given extends Answer> = Omit<
  Tool,
  "input" | "execute" | "timeoutMs"
> & {
  input: Input;
  timeoutMs?: number;
  execute: (input: z.output<Input>, call: ToolCall) => Promise<Given>;
};
/** A tool whose type says whether it may wait. */
type DefinedTool<Given extends Answer> = Omit<Tool, "execute"> & {
  execute: (input: unknown, call: ToolCall) => Promise<ToolResult | Extract<Given, Waiting>>;
};

/** Defines a tool; a string answer is a text result. The input has been parsed with `input` before `execute` sees it. */
export function defineTool<Input extends z.ZodType, Given extends Answer>(
  definition: ToolDefinition<Input, Given>,
): DefinedTool<Given> {
  return {
    timeoutMs: 60_000,
    ...definition,
    async execute(input, call) {
      const result = await definition.execute(definition.input.parse(input), call);
      if (typeof result === "string") return textResult(result);
      // The answer is not text, so it is a result or a wait.
      return result as ToolResult | Extract<Given, Waiting>;
    },
  };
}

/** Thrown by a tool when the service itself failed. The engine repeats the call; the model does not see the failure. */
export class ServiceFailure extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "ServiceFailure";
  }
}

/** @see Waiting */
export const waitFor = (on: Waiting["on"]): Waiting => ({ status: "waiting", on });

/**
 * Returns the answer to a call outside of any turn.
 *
 * @throws Error if the call would have to wait, because only a turn can be parked.
 */
export function unlessWaiting<Given extends object>(answer: Given | Waiting): Given {
  if ("status" in answer && answer.status === "waiting")
    throw new Error("This call would have to wait, which only a call of a turn can do.");
  // A wait has been excluded above.
  return answer as Given;
}

/** An answer of text. */
export const textResult = (text: string): ToolResult => ({
  isError: false,
  content: [{ type: "text", text }],
});

/** An answer of JSON, indented for the model to read. */
export const jsonResult = (value: unknown): ToolResult => textResult(JSON.stringify(value, null, 1));

/** An answer that says what went wrong and what to do. */
export const errorResult = (text: string): ToolResult => ({
  isError: true,
  content: [{ type: "text", text }],
});
