import type { z } from "zod";
import type { CallRefusal, RunOrigin, WaitEnd, WaitKind, WaitUntil } from "#db/schema/unions.ts";
import type { EvidencePointer } from "#lib/events/event.ts";

/**
 * What a tool needs. `capabilities` removes the tools whose need is switched off; `delegation` tools are only
 * in sessions that may have sub-agents, `parent` tools only in sub-agents.
 */
export type ToolNeed = "browser" | "sandbox" | "delegation" | "parent";

/**
 * The group of a tool in the tool policy: `analysis` tools are in every session, structured sessions leave out `editing`
 * tools unless included, and the policy does not apply to `always` tools (planning, requirements, delegation, skills).
 */
export type ToolProfile = "analysis" | "editing" | "always";

/**
 * One part of a tool's answer. A picture is stored as evidence, and models that can see pictures get its bytes. Other
 * evidence appears only in the tool's record; a text part describes it to the model.
 */
export type ToolContent =
  | { type: "text"; text: string }
  | { type: "image"; evidence: EvidencePointer; data: Uint8Array }
  | { type: "evidence"; evidence: EvidencePointer };

/**
 * A tool's answer, which is shown to the model and recorded whole. A failure is an answer too, and so is the `refusal` of
 * a call that did not run.
 */
export type ToolResult = { isError: boolean; content: ToolContent[]; refusal?: CallRefusal };

/**
 * The answer of a tool that waits for something outside of the service. The engine parks the turn and repeats the call when
 * the wait has ended. Source: `architecture.md`, Turns that wait.
 */
export type Waiting = {
  status: "waiting";
  on: {
    kind: WaitKind;
    /** Ids of the subjects that it waits for, such as questions or sub-agents. */
    subjects: string[];
    /** Whether one of them ends the wait (the default), or all of them together. */
    until?: WaitUntil;
    /** When the wait ends without them; null for a wait without a deadline. */
    deadlineAt: Date | null;
  };
};

/** The context of one tool call. */
export type ToolCall = {
  sessionId: string;
  /** The session whose browser the call works on: for a sub-agent that shares a page, its parent's. */
  browserSessionId: string;
  /** The session whose workspace it works in: the root's, which all sub-agents share. */
  rootSessionId: string;
  /** Null, like `runId`, if an external agent calls the tool outside of a turn. */
  requestId: string | null;
  runId: string | null;
  callId: string;
  origin: RunOrigin;
  /** Whether this turn, or the holder of an MCP token, has a tool. */
  hasTool: (name: string) => boolean;
  /** How the wait of an earlier attempt of this call ended, and the ids that it waited for. */
  waitEndedBy?: WaitEnd | undefined;
  waitedFor?: readonly string[] | undefined;
  /** Fires when the turn is stopped or the service shuts down. */
  signal: AbortSignal;
};

/** A tool of the agent. */
export type Tool = {
  name: string;
  description: string;
  input: z.ZodType;
  /** JSON Schema of the input for the model, if it does not follow from `input`. It is never compiled here. */
  jsonSchema?: Record<string, unknown>;
  needs: ToolNeed | undefined;
  profile: ToolProfile;
  /** Whether an interrupted call may be repeated. */
  idempotent: boolean;
  /** Whether a call may run in parallel with other read-only calls of the same message. */
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
   * Acquires what the call works on, such as a live browser, before its deadline starts and before the call counts as
   * begun. A call that is interrupted here had no effect and is repeated. @returns a function that releases it.
   * @throws Error with a sentence for the model; the signal's reason when the call is stopped.
   */
  acquire?: ((call: ToolCall) => Promise<(() => void) | Waiting>) | undefined;
  /**
   * Runs the call. Expected failures are results with `isError`; a throw is shown to the model as its message. Only an
   * idempotent call that belongs to a turn may return `Waiting`.
   */
  execute: (input: unknown, call: ToolCall) => Promise<ToolResult | Waiting>;
};

type Answer = ToolResult | Waiting | string;
type ToolDefinition<Input extends z.ZodType, Result extends Answer> = Omit<
  Tool,
  "input" | "execute" | "timeoutMs"
> & {
  input: Input;
  timeoutMs?: number;
  execute: (input: z.output<Input>, call: ToolCall) => Promise<Result>;
};
/** A tool whose type says whether it may wait. */
type DefinedTool<Result extends Answer> = Omit<Tool, "execute"> & {
  execute: (input: unknown, call: ToolCall) => Promise<ToolResult | Extract<Result, Waiting>>;
};

/** Defines a tool; a string answer is a text result. The input has been parsed with `input` before `execute` sees it. */
export function defineTool<Input extends z.ZodType, Result extends Answer>(
  definition: ToolDefinition<Input, Result>,
): DefinedTool<Result> {
  return {
    timeoutMs: 60_000,
    ...definition,
    async execute(input, call) {
      const result = await definition.execute(definition.input.parse(input), call);
      if (typeof result === "string") return textResult(result);
      // The answer is not text, so it is a result or a wait.
      return result as ToolResult | Extract<Result, Waiting>;
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

/** The answer of a tool that waits. */
export const waitFor = (on: Waiting["on"]): Waiting => ({ status: "waiting", on });

/**
 * Returns the answer to a call outside of any turn.
 *
 * @throws Error if the call would have to wait, because only a turn can be parked.
 */
export function unlessWaiting<Result extends object>(answer: Result | Waiting): Result {
  if ("status" in answer && answer.status === "waiting")
    throw new Error("This call would have to wait, which only a call of a turn can do.");
  // A wait has been excluded above.
  return answer as Result;
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
