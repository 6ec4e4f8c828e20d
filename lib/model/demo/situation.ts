import type { LanguageModelV4CallOptions, LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";
import { CALL_TOOL, LOAD_TOOLS, ON_DEMAND_TOOLS } from "#lib/catalogue/tools.ts";
import { type PlanState, readPlanState } from "./planning/plan-state.ts";
import type { ToolExchange } from "./tool-exchange.ts";

/** The next step of the demo model: say a sentence and call tools, or end the turn with a report. */
export type DemoStep =
  | { kind: "calls"; say: string; calls: { toolName: string; input: Record<string, unknown> }[] }
  | { kind: "report"; text: string };

/** The input of the planner. */
export type Situation = {
  /** Text of the last user message. */
  message: string;
  /** URL of the open page, according to the prompt. */
  currentUrl?: string;
  /** URL of the session's target page, according to the prompt. */
  targetUrl?: string;
  demoUrl: string;
  /** JSON Schema of a sub-agent's result, according to the instructions; undefined if there is none. */
  resultSchema?: Record<string, unknown>;
  /** Newest revision of the variant `main` when the turn began; undefined if the prompt names none. */
  revision?: number;
  plan: PlanState;
  /** Whether the turns of the session end with a typed result. */
  isStructured: boolean;
  /** The tools by name, with their input schemas. A tool on demand has no schema here. */
  tools: Map<string, unknown>;
  /** The tools that are called through `call_tool`. */
  onDemand: Set<string>;
  /** Tool calls before the last user message. */
  earlier: ToolExchange[];
  /** Tool calls after the last user message. */
  exchanges: ToolExchange[];
};

function textOfOutput(output: LanguageModelV4ToolResultOutput): { isError: boolean; text: string } {
  switch (output.type) {
    case "text":
      return { isError: false, text: output.value };
    case "json":
      return { isError: false, text: JSON.stringify(output.value) };
    case "error-text":
      return { isError: true, text: output.value };
    case "error-json":
      return { isError: true, text: JSON.stringify(output.value) };
    case "execution-denied":
      return { isError: true, text: output.reason ?? "not allowed" };
    case "content":
      return {
        isError: false,
        text: output.value.map((part) => (part.type === "text" ? part.text : "")).join("\n"),
      };
  }
}

function readInput(input: unknown): Record<string, unknown> {
  if (typeof input === "string") {
    try {
      return readInput(JSON.parse(input));
    } catch {
      return {};
    }
  }
  // The cast is safe after these checks.
  return typeof input === "object" && input !== null && !Array.isArray(input)
    ? (input as Record<string, unknown>)
    : {};
}

/** Reads the URL in a line such as `Current page: https://…`. If there are several such lines, the last one counts. */
function readPageLine(text: string, name: string): string | undefined {
  const lines = [
    ...text.matchAll(new RegExp(`^[ \\t*-]{0,8}${name} pages?\\s*:\\W*(https?://[^\\s<>"'\`)\\]]+)`, "gim")),
  ];
  return lines.at(-1)?.[1];
}

/** The text that precedes the result schema in the instructions of a sub-agent. */
const RESULT_SCHEMA = "- Your result has to fit this JSON Schema:\n\n```json\n";

/** Reads the result schema of a sub-agent; undefined if the instructions contain no complete schema. */
function readResultSchema(instructions: string): Record<string, unknown> | undefined {
  const start = instructions.indexOf(RESULT_SCHEMA);
  if (start === -1) return undefined;
  const [json] = instructions.slice(start + RESULT_SCHEMA.length).split("\n```", 1);
  const schema = readInput(json);
  return Object.keys(schema).length > 0 ? schema : undefined;
}

/** Matches a heading that only the instructions of a session with an output schema contain. */
const TYPED_RESULT = /^## Typed result$/m;

/** Matches the line in the instructions that states the newest revision of the variant. */
const REVISION = /^- Variant main has revision (\d{1,6}),/m;

/** Beginnings of messages that the service adds to a conversation, and of those about the state of the session. */
const ADDED = "[Added by the service]";
const STATE = `${ADDED} At the start of this turn:`;

/** Reads a call of the model: the tool and its input. A call through `call_tool` is a call of the tool that it names. */
function readCall(toolName: string, input: unknown): { toolName: string; input: Record<string, unknown> } {
  const written = readInput(input);
  return toolName === CALL_TOOL && typeof written.name === "string"
    ? { toolName: written.name, input: readInput(written.input) }
    : { toolName, input: written };
}

/** Reads the prompt and the tools of a model call. `demoOrigin` is the origin of the demo page. Never throws. */
export function readSituation(options: LanguageModelV4CallOptions, demoOrigin: string): Situation {
  const situation: Situation = {
    message: "",
    demoUrl: new URL("/demo", demoOrigin).href,
    plan: { mode: "off", revision: 0, items: [], isCut: false },
    isStructured: false,
    tools: new Map(),
    onDemand: new Set(),
    earlier: [],
    exchanges: [],
  };
  let instructions = "";
  let state = "";
  for (const message of options.prompt) {
    if (message.role === "system") {
      instructions += `\n${message.content}`;
      const schema = readResultSchema(message.content);
      if (schema !== undefined) situation.resultSchema = schema;
      situation.isStructured ||= TYPED_RESULT.test(message.content);
    }
    if (message.role === "user") {
      const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      if (text.startsWith(STATE)) state = text;
      // Skips messages from the service, because they contain no task.
      if (text.startsWith(ADDED)) continue;
      situation.message = text;
      situation.earlier.push(...situation.exchanges.splice(0));
    }
    if (message.role !== "assistant" && message.role !== "tool") continue;
    for (const part of message.content) {
      if (part.type === "tool-call") {
        situation.exchanges.push({ id: part.toolCallId, ...readCall(part.toolName, part.input) });
      }
      if (part.type === "tool-result") {
        const exchange = [...situation.earlier, ...situation.exchanges].find(
          ({ id }) => id === part.toolCallId,
        );
        if (exchange !== undefined) exchange.result = textOfOutput(part.output);
      }
    }
  }
  // Earlier messages about the state do not count.
  const prompt = `${instructions}\n${state}`;
  const revision = REVISION.exec(prompt)?.[1];
  if (revision !== undefined) situation.revision = Number(revision);
  situation.plan = readPlanState(prompt, situation.message, situation);
  // Earlier messages of the user are left out, because the session may select another page by now.
  const context = `${prompt}\n${situation.message}`;
  const current = readPageLine(context, "current");
  const target = readPageLine(context, "target");
  if (current !== undefined) situation.currentUrl = current;
  if (target !== undefined) situation.targetUrl = target;
  situation.demoUrl = readPageLine(context, "demo") ?? situation.demoUrl;
  if (options.toolChoice?.type !== "none") {
    for (const tool of options.tools ?? []) {
      if (tool.type !== "function") continue;
      situation.tools.set(tool.name, tool.inputSchema);
      if (tool.name === LOAD_TOOLS) addOnDemand(situation, tool.description ?? "");
    }
  }
  return situation;
}

/** Adds the tools that the description of `load_tools` names. */
function addOnDemand({ tools, onDemand }: Situation, description: string): void {
  for (const name of ON_DEMAND_TOOLS) {
    if (!new RegExp(`\\b${name}\\b`).test(description)) continue;
    tools.set(name, undefined);
    onDemand.add(name);
  }
}
