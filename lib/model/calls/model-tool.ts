import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { z } from "zod";

/** A tool as a model is told of it, and what its input has to fit. */
export type ModelTool = { definition: LanguageModelV4FunctionTool; input: z.ZodType };

/** The tools of a call by their names, in the order in which they are sent. */
export type ModelTools = ReadonlyMap<string, ModelTool>;

/** The input of a call that a model made: the value that its tool takes, or why it does not fit. */
export type ReadInput = { input: unknown; error?: Error };

/** Keys that change the prototype of an object where they are assigned. Escapes may spell them too. */
const MAY_HOLD_PROTOTYPE = /__proto__|\\u00/i;

/** Reads the input of a call: JSON that fits the tool. No text stands for no fields. Never throws. */
export function readInput(tools: ModelTools, name: string, text: string): ReadInput {
  const parsed = parseInput(text);
  const tool = tools.get(name);
  if (!tool) {
    const names = [...tools.keys()].join(", ") || "none";
    return { input: parsed.input, error: new Error(`There is no tool "${name}". The tools are: ${names}.`) };
  }
  if (parsed.error) return parsed;
  const fitted = tool.input.safeParse(parsed.input);
  return fitted.success ? { input: fitted.data } : { input: parsed.input, error: fitted.error };
}

function parseInput(text: string): ReadInput {
  if (text.trim() === "") return { input: {} };
  try {
    return { input: JSON.parse(text, MAY_HOLD_PROTOTYPE.test(text) ? refusePrototype : undefined) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) return { input: text, error: error as Error };
    return { input: text, error: new Error(`The input is not JSON: ${error.message}`) };
  }
}

function refusePrototype(key: string, value: unknown): unknown {
  if (key === "__proto__")
    throw new Error('The key "__proto__" is not allowed, because it changes the prototype of an object.');
  return value;
}
