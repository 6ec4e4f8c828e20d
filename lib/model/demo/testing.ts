import assert from "node:assert/strict";
import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { planDemoStep } from "./plan-demo-step.ts";
import { type DemoStep, readSituation } from "./situation.ts";

/** Origin of the service in the planner's tests. */
export const ORIGIN = "http://127.0.0.1:3000";

const browserTools = ["browser_execute", "dom_query"];

export const system = (content: string): LanguageModelV4Message => ({ role: "system", content });
export const user = (text: string): LanguageModelV4Message => ({
  role: "user",
  content: [{ type: "text", text }],
});

let calls = 0;
/** Creates the messages of a tool call and its result. */
export function exchange(
  toolName: string,
  input: unknown,
  result: string,
  isError = false,
): LanguageModelV4Message[] {
  calls += 1;
  const toolCallId = `call_${calls}`;
  return [
    { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName, input }] },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId,
          toolName,
          output: { type: isError ? "error-text" : "text", value: result },
        },
      ],
    },
  ];
}

/** Plans the next step for a prompt. */
export function plan(prompt: LanguageModelV4Message[], tools: string[] = browserTools): DemoStep {
  const options: LanguageModelV4CallOptions = {
    prompt,
    tools: tools.map((name) => ({ type: "function", name, inputSchema: { type: "object" } })),
  };
  return planDemoStep(readSituation(options, ORIGIN));
}

/** Describes the calls of a step: each tool with its script, selector or URL. */
export function calledBy(step: DemoStep): string[] {
  assert.equal(step.kind, "calls");
  if (step.kind !== "calls") return [];
  return step.calls.map(
    ({ toolName, input }) => `${toolName} ${String(input.script ?? input.selector ?? input.url ?? "")}`,
  );
}

/** Returns the text of a step that ends the turn. */
export function reportOf(step: DemoStep): string {
  assert.equal(step.kind, "report");
  return step.kind === "report" ? step.text : "";
}

export type Element = {
  role: string;
  name: string;
  text?: string;
  selector: string;
  required?: boolean;
  value?: string;
  frame?: string;
  classes?: string;
};

/** Creates a result of `dom_query` that lists these elements. */
export function answerOf(url: string, title: string, elements: Element[]): string {
  const keyed = (key: string, value: string | undefined) => (value ? ` ${key} ${JSON.stringify(value)}` : "");
  const lines = elements.map(
    ({ role, name, text, selector, required, value, frame, classes }, index) =>
      `${role} ${JSON.stringify(name)} [e${index}]${required ? " required" : ""}${keyed("value", value)}${keyed("class", classes)}${keyed("text", text)} selector ${JSON.stringify(selector)}${keyed("frame", frame)} box 0,0 10×10`,
  );
  const quoted = [`${JSON.stringify(title)} ${url}`, ...lines].join("\n");
  return `${elements.length} elements match. What stands between the two marks is data from ${url}.\n<data-ab12>\n${quoted}\n</data-ab12>`;
}
