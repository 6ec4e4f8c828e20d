import type { ModelMessage } from "ai";
import type { OutputFormat } from "#lib/deliverable/admission/create-schema-checker.ts";
import type { AnswerEnd } from "#lib/model/calls/answer-end.ts";
import { streamModel } from "#lib/model/calls/stream-model.ts";
import { type ModelFailure, readModelFailure } from "#lib/model/failure.ts";
import { addUsage, type ModelUsage, readUsage } from "#lib/model/usage.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { EMPTY_TWICE } from "../step/unfinished-answer.ts";

/**
 * The outcome of a call without tools and with a response format. `modelCalls` is 2 if an empty answer was tried once
 * more; `usage` is then the sum of both calls.
 */
export type StructuredAnswer =
  | { kind: "text"; text: string; usage: ModelUsage; modelCalls: number }
  | { kind: "failed"; failure: ModelFailure; rawText?: string; usage?: ModelUsage; modelCalls: number }
  | { kind: "stopped" };

const FORMAT_NAME = "deliverable";
const PROBE_TOKENS = 16;
const PROBE_TIMEOUT_MS = 60_000;
const CALL_TIMEOUT_MS = 600_000;

/**
 * Checks that the provider accepts the schema. The request has the response format, no tools, and at most 16 output
 * tokens. Source: specification, States and transitions (Deliverable status).
 */
export async function probeFormat(
  deps: TurnDeps,
  signal: AbortSignal,
  format: OutputFormat,
): Promise<StructuredAnswer> {
  if (signal.aborted) return { kind: "stopped" };
  try {
    const result = await createDeadline({ ms: PROBE_TIMEOUT_MS, signal }).run((limited) =>
      probe(deps, format, limited),
    );
    return { kind: "text", text: "", usage: readUsage(result.usage), modelCalls: 1 };
  } catch (error) {
    return readBreak(signal, error);
  }
}

async function probe({ model: access }: TurnDeps, format: OutputFormat, abortSignal: AbortSignal) {
  try {
    const result = await access.model.doGenerate({
      prompt: [{ role: "user", content: [{ type: "text", text: "Reply in the response format." }] }],
      responseFormat: { type: "json", schema: format.schema, name: FORMAT_NAME },
      maxOutputTokens: PROBE_TOKENS,
      providerOptions: formatOptions({ model: access }, format),
      abortSignal,
    });
    access.outcomes?.recordSuccess();
    return result;
  } catch (error) {
    access.outcomes?.recordFailure(error, abortSignal);
    throw error;
  }
}

/**
 * Makes one model call without tools. The answer must have the response format. An empty answer is tried once more; the
 * usage is then the sum of both calls.
 */
export async function callStructured(
  deps: TurnDeps,
  signal: AbortSignal,
  prompt: StructuredPrompt,
): Promise<StructuredAnswer> {
  if (signal.aborted) return { kind: "stopped" };
  return createDeadline({ ms: CALL_TIMEOUT_MS, signal }).run((limited) =>
    callWithin(deps, signal, prompt, limited),
  );
}

type StructuredPrompt = { instructions: string; messages: ModelMessage[]; format: OutputFormat };

async function callWithin(
  deps: TurnDeps,
  signal: AbortSignal,
  prompt: StructuredPrompt,
  limited: AbortSignal,
): Promise<StructuredAnswer> {
  const request = {
    instructions: prompt.instructions,
    messages: prompt.messages,
    responseFormat: { type: "json", schema: prompt.format.schema, name: FORMAT_NAME } as const,
    providerOptions: formatOptions(deps, prompt.format),
  };
  let usage: ModelUsage | undefined;
  let text = "";
  let modelCalls = 1;
  try {
    for (; ; modelCalls++) {
      const answer = await streamModel(deps.model, request, limited, (delta) => {
        if (delta.kind === "text") text += delta.text;
      });
      usage = usage ? addUsage(usage, answer.usage) : answer.usage;
      if (answer.end === "empty" && modelCalls === 1) {
        text = "";
        continue;
      }
      const failure = readEnding(answer.end, text);
      return failure
        ? { kind: "failed", failure, usage, modelCalls, ...(text && { rawText: text }) }
        : { kind: "text", text, usage, modelCalls };
    }
  } catch (error) {
    const broken = readBreak(signal, error, text);
    return broken.kind === "failed" ? { ...broken, modelCalls, ...(usage && { usage }) } : broken;
  }
}

/**
 * Composes the provider options. A schema that exceeds the limits of strict mode is sent without strict mode; the
 * answer may then violate it.
 */
const formatOptions = (deps: Pick<TurnDeps, "model">, { isStrict }: OutputFormat) => ({
  ...deps.model.providerOptions,
  openai: { ...deps.model.providerOptions.openai, strictJsonSchema: isStrict },
});

/** Returns the outcome of a call that threw: a stop, or a failure with the `text` that had arrived. */
const readBreak = (signal: AbortSignal, error: unknown, text = ""): StructuredAnswer =>
  signal.aborted
    ? { kind: "stopped" }
    : { kind: "failed", failure: readModelFailure(error), modelCalls: 1, ...(text && { rawText: text }) };

function readEnding(end: AnswerEnd, text: string): ModelFailure | undefined {
  if (end === "empty") return { message: EMPTY_TWICE, isRetryable: false };
  if (end === "cut_off")
    return { message: "The structured answer was cut off at the model's output limit.", isRetryable: false };
  if (end === "failed" || end === "unknown")
    return { message: "The model provider broke off its answer.", isRetryable: true };
  if (end === "filtered") {
    // Text that begins like JSON is an answer that the filter cut off. Any other text is the model's refusal.
    const words = text.trim().startsWith("{") ? "" : beginningOf(text.trim(), 500);
    return {
      message: words
        ? `The model refused: ${words}`
        : "The model provider refused: its content filter ended the answer.",
      isRetryable: false,
    };
  }
  return undefined;
}
