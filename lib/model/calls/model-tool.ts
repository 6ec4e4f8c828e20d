import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { z } from "zod";
import { readNullsAsAbsent } from "#lib/text/read-nulls-as-absent.ts";

/** A tool: its definition as sent to the model, and the schema that validates its input. */
export type ModelTool = { definition: LanguageModelV4FunctionTool; input: z.ZodType };

/** The tools of a model call, keyed by name, in the order in which they are sent. */
export type ModelTools = ReadonlyMap<string, ModelTool>;

/** The input of a tool call. `error`: why the input is not valid; `input` is then the unvalidated value. */
export type ReadInput = { input: unknown; error?: Error };

/** Matches texts that may contain a `__proto__` key, either plain or written with Unicode escapes. */
const MAY_CONTAIN_PROTO = /__proto__|\\u00/i;

/**
 * Parses and validates the input of a tool call. An empty text is read as `{}`, and a null that the tool does not allow
 * as an absent argument. Never throws.
 */
export function readInput(tools: ModelTools, name: string, text: string): ReadInput {
  const parsed = parseInput(text);
  const tool = tools.get(name);
  if (!tool) {
    const names = [...tools.keys()].join(", ") || "none";
    return { input: parsed.input, error: new Error(`There is no tool "${name}". The tools are: ${names}.`) };
  }
  if (parsed.error) return parsed;
  const result = readNullsAsAbsent(tool.input, parsed.input);
  return result.success ? { input: result.data } : { input: parsed.input, error: result.error };
}

function parseInput(text: string): ReadInput {
  if (text.trim() === "") return { input: {} };
  try {
    return { input: JSON.parse(text, MAY_CONTAIN_PROTO.test(text) ? refusePrototype : undefined) };
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
