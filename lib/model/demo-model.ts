import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { CALL_TOOL } from "#lib/catalogue/tools.ts";
import { buildValue } from "./demo/build-value.ts";
import { collectFacts, NO_FACTS } from "./demo/page-facts.ts";
import { planDemoStep } from "./demo/plan-demo-step.ts";
import { isSchemaObject } from "./demo/resolve-schema.ts";
import { readSituation } from "./demo/situation.ts";

type Options = {
  /** Origin of the service, which serves the demo page. */
  demoOrigin: string;
  /** Delay between two pieces of a streamed text; 0 in tests. */
  paceMs: number;
};

type Answer = {
  content: LanguageModelV4Content[];
  finishReason: LanguageModelV4FinishReason;
  usage: LanguageModelV4Usage;
};

/**
 * Creates the model of a deployment without a key: a rule-based planner with the interface of a language model. It uses
 * the offered tools, reports only what their results say, and calls itself a demo model in every report. The same
 * prompt always gives the same answer. With a JSON response format it answers with a value for the schema.
 */
export function createDemoModel(options: Options): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "demo",
    modelId: "demo",
    supportedUrls: {},
    async doGenerate(call) {
      call.abortSignal?.throwIfAborted();
      return { ...answer(call, options), warnings: [] };
    },
    async doStream(call) {
      call.abortSignal?.throwIfAborted();
      // A structured answer is not shown while it is written, so it needs no delays.
      const paceMs = call.responseFormat?.type === "json" ? 0 : options.paceMs;
      return { stream: toStream(streamAnswer(answer(call, options), paceMs, call.abortSignal)) };
    },
  };
}

function answer(call: LanguageModelV4CallOptions, options: Options): Answer {
  const situation = readSituation(call, options.demoOrigin);
  const prompt = JSON.stringify(call.prompt);
  const inputCharacters = prompt.length;
  if (call.responseFormat?.type === "json") {
    const facts = collectFacts(situation);
    const schema = call.responseFormat.schema ?? {
      type: "object",
      properties: { summary: { type: "string" } },
    };
    const text = JSON.stringify(buildValue(schema, facts));
    return finish([{ type: "text", text }], "stop", inputCharacters);
  }
  const step = planDemoStep(situation);
  if (step.kind === "report") return finish([{ type: "text", text: step.text }], "stop", inputCharacters);
  // The ids of the tool calls contain a hash of the prompt. A repeated model call therefore gives the same ids, and any
  // other model call gives new ids.
  const callId = createHash("sha256").update(prompt).digest("hex").slice(0, 12);
  const calls = step.calls.map(({ toolName, input }, position) => ({
    type: "tool-call" as const,
    toolCallId: `demo_${callId}_${position}`,
    ...(situation.onDemand.has(toolName)
      ? { toolName: CALL_TOOL, input: JSON.stringify({ name: toolName, input }) }
      : { toolName, input: JSON.stringify(completeInput(situation.tools.get(toolName), input)) }),
  }));
  return finish([{ type: "text", text: step.say }, ...calls], "tool-calls", inputCharacters);
}

/** Adds placeholder values for fields that the tool's schema requires but the planner does not set. */
function completeInput(schema: unknown, input: Record<string, unknown>): Record<string, unknown> {
  if (!isSchemaObject(schema) || !Array.isArray(schema.required)) return input;
  const required = schema.required.filter((name) => typeof name === "string" && !(name in input));
  if (required.length === 0) return input;
  const built = buildValue({ ...schema, required }, { ...NO_FACTS, summary: "demo" });
  return { ...(isSchemaObject(built) ? built : {}), ...input };
}

function finish(
  content: LanguageModelV4Content[],
  unified: "stop" | "tool-calls",
  inputCharacters: number,
): Answer {
  const written = Math.ceil(JSON.stringify(content).length / 4);
  const read = Math.ceil(inputCharacters / 4);
  return {
    content,
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: read, noCache: read, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: written, text: written, reasoning: 0 },
    },
  };
}

/**
 * Yields the parts of an answer in the order of a real stream. Text comes in pieces of a few words, with delays between
 * them.
 */
async function* streamAnswer(
  { content, finishReason, usage }: Answer,
  paceMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const pause = async () => {
    signal?.throwIfAborted();
    if (paceMs > 0) await sleep(paceMs, undefined, signal ? { signal } : {});
  };
  yield { type: "stream-start", warnings: [] };
  yield { type: "response-metadata", modelId: "demo" };
  for (const [position, part] of content.entries()) {
    if (part.type === "text") {
      const id = `text_${position}`;
      yield { type: "text-start", id };
      for (const delta of part.text.match(/[\s\S]{1,16}(?:\S{0,8}\s?)/g) ?? []) {
        await pause();
        yield { type: "text-delta", id, delta };
      }
      yield { type: "text-end", id };
    }
    if (part.type === "tool-call") {
      await pause();
      const id = part.toolCallId;
      yield { type: "tool-input-start", id, toolName: part.toolName };
      yield { type: "tool-input-delta", id, delta: part.input };
      yield { type: "tool-input-end", id };
      yield part;
    }
  }
  yield { type: "finish", finishReason, usage };
}

function toStream<Part>(parts: AsyncGenerator<Part>): ReadableStream<Part> {
  return new ReadableStream<Part>({
    async pull(controller) {
      try {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.error(error);
      }
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
}
