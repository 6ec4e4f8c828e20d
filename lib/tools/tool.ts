import type { z } from "zod";
import type { CallRefusal, WaitEnd, WaitKind, WaitUntil } from "#db/schema/unions.ts";
import {
  type OnDemandKind,
  TOOL_CATALOGUE,
  type ToolName,
  type ToolNeed,
  type ToolProfile,
} from "#lib/catalogue/tools.ts";
import type { EvidencePointer } from "#lib/events/event.ts";
import type { PageAction } from "#lib/events/page-action-schema.ts";
import type { PicturePart } from "#lib/evidence/model-copy.ts";
import { parseNullsAsAbsent } from "#lib/text/read-nulls-as-absent.ts";

/**
 * One part of a tool's answer. An `image` is a picture that is stored as evidence, or a part of it; models that can see
 * pictures get `data`, which is the copy that `copyForModel` makes. The model does not see an `evidence` part, which only records the evidence with the call.
 */
export type ToolContent =
  | { type: "text"; text: string }
  | { type: "image"; evidence: EvidencePointer; data: Uint8Array; mediaType: string; part?: PicturePart }
  | { type: "evidence"; evidence: EvidencePointer };

/**
 * A tool's answer. It is shown to the model and recorded in full. A failure is also an answer, with `isError`.
 * `refusal` says why a call did not run. `interruptedBy` is the name of a person who took control of the browser while
 * the call ran; such a call has not failed. `actions` says to people what the call did to the page; the model does not
 * see it.
 */
export type ToolResult = {
  isError: boolean;
  content: ToolContent[];
  refusal?: CallRefusal;
  interruptedBy?: string;
  actions?: PageAction[];
};

/**
 * The answer of a tool that must wait, for example for a person or for sub-agents. The engine pauses the turn, and
 * repeats the call when the wait has ended. Source: `architecture.md`, Turns that wait.
 */
export type Waiting = {
  status: "waiting";
  on: {
    kind: WaitKind;
    /** Ids of what the call waits for, such as questions or sub-agents. */
    subjects: string[];
    /** Whether the wait ends when the first subject is ready (the default), or when all subjects are ready. */
    until?: WaitUntil;
    /** The time at which the wait ends even if the subjects are not ready. Null for a wait without a deadline. */
    deadlineAt: Date | null;
  };
};

/** The context of one tool call. */
export type ToolCall = {
  sessionId: string;
  /**
   * The session whose browser the call works on. For a sub-agent that shares its parent's page, this is the parent's
   * session.
   */
  browserSessionId: string;
  /** The session whose workspace the call works in: the root session, whose workspace all sub-agents share. */
  rootSessionId: string;
  /** `requestId` and `runId` are null if an external agent calls the tool outside of a turn. */
  requestId: string | null;
  runId: string | null;
  callId: string;
  /** The epoch of the claim with which the run is played. Undefined outside of a turn. */
  epoch?: number | undefined;
  /** Whether the call may ask people: a person started the turn or its first attempt, or the session has opted in. */
  mayAskPeople: boolean;
  /** How long questions wait for an answer, whatever the call asks for; only if no person started the turn. */
  answerTimeoutMs?: number | undefined;
  /** Whether the caller (the turn, or the holder of an MCP token) has a tool of this name. */
  hasTool: (name: string) => boolean;
  /** How the wait of an earlier attempt of this call ended. Undefined on the first attempt. */
  waitEndedBy?: WaitEnd | undefined;
  /** The `subjects` for which an earlier attempt of this call waited. */
  waitedFor?: readonly string[] | undefined;
  /** Fires when the turn is stopped, when `execute` exceeds the tool's `timeoutMs`, or when the service shuts down. */
  signal: AbortSignal;
};

/** A tool that the agent can call. */
export type Tool = {
  name: string;
  description: string;
  input: z.ZodType;
  /**
   * JSON Schema of the input for the model, if the schema cannot be derived from `input`. The service validates with
   * `input` only.
   */
  jsonSchema?: Record<string, unknown>;
  needs: ToolNeed | undefined;
  profile: ToolProfile;
  /** Set if the model gets only the name of the tool until it asks for the definition. */
  onDemand?: OnDemandKind | undefined;
  /** Whether the engine may repeat a call that was interrupted. */
  idempotent: boolean;
  /** Whether a call may run in parallel with other read-only calls of the same message. */
  readOnly: boolean;
  /**
   * Whether a call only reads data that this service has stored. Such a call takes milliseconds, so the model's message
   * with the call is recorded together with the result.
   */
  readsStore?: boolean | undefined;
  /**
   * Whether a call changes or publishes something: pages, files, variants, what people are shown, publications. Such
   * calls are refused while the plan waits for a person's approval. Evidence, reports of checks, the plan, requirements
   * and sub-agents do not count: they are how the agent looks and plans, and sub-agents obey the same rule. Source:
   * `architecture.md`, Plan and requirements.
   */
  changes: boolean;
  /** Set for a tool of a caller's server that is not declared `destructiveHint: false`. */
  isDestructive?: boolean | undefined;
  /** Maximum duration of a call, in milliseconds. */
  timeoutMs: number;
  /** How long a call with this input can take, in milliseconds, if that is less than `timeoutMs`. */
  longestMs?: ((input: unknown) => number) | undefined;
  /**
   * Acquires what the call works on, such as a live browser. The deadline of the call starts after `acquire`. A call
   * that is interrupted during `acquire` has had no effect, so the engine repeats it.
   * @returns a function that releases what was acquired, or `Waiting` if the call must wait before it can start.
   * @throws Error with a readable message for the model; the reason of the signal if the call is stopped.
   */
  acquire?: ((call: ToolCall) => Promise<(() => void) | Waiting>) | undefined;
  /**
   * Returns the result of a call that an earlier executor had begun, if it is still known. If the call still runs, it is
   * ended first. Undefined if the result is not known: the call may or may not have had an effect.
   */
  recover?: ((call: ToolCall) => Promise<ToolResult | undefined>) | undefined;
  /**
   * Runs the call. Expected failures are results with `isError`. If `execute` throws, the model sees the message of the
   * error, except for a `ServiceFailure`. Only a call that belongs to a turn may return `Waiting`. If the call is not
   * idempotent, it must continue after the wait where it ended before: what came before the wait is not run again.
   */
  execute: (input: unknown, call: ToolCall) => Promise<ToolResult | Waiting>;
};

type Answer = ToolResult | Waiting | string;
type ToolDefinition<Input extends z.ZodType, Result extends Answer> = Omit<
  Tool,
  "input" | "execute" | "timeoutMs" | "longestMs"
> & {
  input: Input;
  timeoutMs?: number;
  longestMs?: (input: z.output<Input>) => number;
  execute: (input: z.output<Input>, call: ToolCall) => Promise<Result>;
};
/** A tool whose type says whether `execute` may return `Waiting`. */
type DefinedTool<Result extends Answer> = Omit<Tool, "execute"> & {
  execute: (input: unknown, call: ToolCall) => Promise<ToolResult | Extract<Result, Waiting>>;
};

/** Defines a tool of the service. Its needs, its profile and whether it is on demand are in the catalogue. @see makeTool */
export function defineTool<Input extends z.ZodType, Result extends Answer>(
  definition: Omit<ToolDefinition<Input, Result>, "name" | "needs" | "profile" | "onDemand"> & {
    name: ToolName;
  },
): DefinedTool<Result> {
  const { needs, profile, onDemand } = TOOL_CATALOGUE[definition.name];
  return makeTool({ ...definition, needs, profile, onDemand });
}

/**
 * Makes a tool. The input is parsed with `input` before `execute` gets it; a null that `input` does not allow counts as
 * absent. If `execute` returns a string, it becomes a text result.
 */
export function makeTool<Input extends z.ZodType, Result extends Answer>(
  definition: ToolDefinition<Input, Result>,
): DefinedTool<Result> {
  const { input: schema, longestMs } = definition;
  return {
    timeoutMs: 60_000,
    ...definition,
    longestMs: longestMs && ((input) => longestMs(parseNullsAsAbsent(schema, input))),
    async execute(input, call) {
      const result = await definition.execute(parseNullsAsAbsent(schema, input), call);
      if (typeof result === "string") return textResult(result);
      // The answer is not a string, so it is a `ToolResult` or `Waiting`.
      return result as ToolResult | Extract<Result, Waiting>;
    },
  };
}

/** Thrown by a tool if the service itself failed. The engine repeats the call; the model does not see the failure. */
export class ServiceFailure extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "ServiceFailure";
  }
}

/** Creates the answer of a tool that waits. */
export const waitFor = (on: Waiting["on"]): Waiting => ({ status: "waiting", on });

/**
 * Returns the result of a call that was made outside of a turn.
 *
 * @throws Error if the call would have to wait, because only a turn can be paused.
 */
export function unlessWaiting<Result extends object>(answer: Result | Waiting): Result {
  if ("status" in answer && answer.status === "waiting")
    throw new Error("This call would have to wait, which only a call of a turn can do.");
  // The check above has excluded `Waiting`.
  return answer as Result;
}

/** Lists the evidence of an answer. The parts of one picture are one piece of evidence. */
export const listEvidence = (content: readonly ToolContent[]): EvidencePointer[] => [
  ...new Map(
    content.flatMap((part) => (part.type === "text" ? [] : [[part.evidence.id, part.evidence] as const])),
  ).values(),
];

/** Creates an answer of text. */
export const textResult = (text: string): ToolResult => ({
  isError: false,
  content: [{ type: "text", text }],
});

/** Creates an answer of JSON, indented for the model to read. */
export const jsonResult = (value: unknown): ToolResult => textResult(JSON.stringify(value, null, 1));

/** Creates an answer that says what went wrong and what to do. */
export const errorResult = (text: string): ToolResult => ({
  isError: true,
  content: [{ type: "text", text }],
});
