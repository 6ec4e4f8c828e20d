import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { z } from "zod";
import { CALL_TOOL } from "#lib/catalogue/tools.ts";
import { readNullsAsAbsent } from "#lib/text/read-nulls-as-absent.ts";

/**
 * A tool: its definition for the model, and the schema that validates its input. The definition of a tool on demand is
 * not sent; the model calls such a tool through `call_tool`.
 */
export type ModelTool = { definition: LanguageModelV4FunctionTool; input: z.ZodType; isOnDemand?: true };

/** The tools of a model call, keyed by name, in the order in which they are sent. */
export type ModelTools = ReadonlyMap<string, ModelTool>;

/** Returns the tools whose definitions are sent to the model. */
export const listSent = (tools: ModelTools): ModelTool[] =>
  [...tools.values()].filter(({ isOnDemand }) => !isOnDemand);

/**
 * The input of a tool call: validated, and as the model wrote it, without defaults. `error`: why the input is not valid;
 * `input` is then the unvalidated value.
 */
type ReadInput = { input: unknown; written: unknown; error?: Error };

/**
 * A tool call as the service runs it. `via`: the tool through which the model made the call, if it is another one than
 * `name`.
 */
export type ReadCall = ReadInput & { name: string; via?: typeof CALL_TOOL };

/** The input of `call_tool`. Some models write the inner input as a text. */
export const callToolInput = z.strictObject({
  name: z.string(),
  input: z.union([z.record(z.string(), z.unknown()), z.string()]).default({}),
});

/**
 * Reads a call of the model: the tool, and its input (see {@link readInput}). A call of `call_tool` is read as a call of
 * the tool that its input names. Never throws.
 */
export function readCall(tools: ModelTools, toolName: string, text: string): ReadCall {
  const read = readInput(tools, toolName, text);
  const name = tools.has(toolName) ? toolName : toSentName(toolName);
  if (name !== CALL_TOOL || read.error || !tools.has(CALL_TOOL)) return { name, ...read };
  // `readInput` has validated the input.
  const called = read.input as z.output<typeof callToolInput>;
  if (called.name === CALL_TOOL) return { ...read, name, error: new Error("call_tool cannot call itself.") };
  const inner = typeof called.input === "string" ? called.input : JSON.stringify(called.input);
  return { ...readCall(tools, called.name, inner), via: CALL_TOOL };
}

/** Matches texts that may contain a `__proto__` key, either plain or written with Unicode escapes. */
const MAY_CONTAIN_PROTO = /__proto__|\\u00/i;

/** Maximum nesting of a call's input. Deeper values would overflow the stack of code that walks through them. */
const LEVELS_MAX = 200;

/**
 * Parses and validates the input of a tool call. An empty text is read as `{}` if the tool requires no field, and a null
 * that the tool does not allow as an absent argument. Never throws.
 */
function readInput(tools: ModelTools, name: string, text: string): ReadInput {
  const parsed = parseInput(text);
  const tool = tools.get(name);
  if (!tool) {
    const names = [...tools.keys()].join(", ") || "none";
    const unknown = toSentName(name);
    return { ...parsed, error: new Error(`There is no tool "${unknown}". The tools are: ${names}.`) };
  }
  if (parsed.error) return parsed;
  // A tool server's schema is not part of `tool.input`, so the required fields are read from the definition.
  const { required = [] } = tool.definition.inputSchema;
  if (isEmpty(text) && required.length > 0)
    return { ...parsed, error: new Error(`The input is empty, but needs: ${required.join(", ")}.`) };
  const result = readNullsAsAbsent(tool.input, parsed.input);
  return result.success ? { ...parsed, input: result.data } : { ...parsed, error: result.error };
}

/** Returns an unknown tool's name in the form that providers accept: letters, digits, `_` and `-`, at most 64. */
const toSentName = (name: string): string => name.slice(0, 64).replace(/[^\w-]/g, "_") || "unnamed";

const isEmpty = (text: string): boolean => text.trim() === "";

function parseInput(text: string): ReadInput {
  const of = (input: unknown, error?: Error): ReadInput => ({
    input,
    written: input,
    ...(error && { error }),
  });
  if (isEmpty(text)) return of({});
  if (isTooDeep(text)) return of({}, new Error(`The input is nested more than ${LEVELS_MAX} levels deep.`));
  try {
    return of(JSON.parse(text, MAY_CONTAIN_PROTO.test(text) ? refusePrototype : undefined));
  } catch (error) {
    return of(
      text,
      error instanceof SyntaxError ? new Error(`The input is not JSON: ${error.message}`) : (error as Error),
    );
  }
}

/** Whether arrays and objects in a JSON text are nested too deep. Brackets in strings do not count. */
function isTooDeep(text: string): boolean {
  let level = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isString) {
      if (character === "\\") at++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === "[" || character === "{") {
      if (++level > LEVELS_MAX) return true;
    } else if (character === "]" || character === "}") level--;
  }
  return false;
}

function refusePrototype(key: string, value: unknown): unknown {
  if (key === "__proto__")
    throw new Error('The key "__proto__" is not allowed, because it changes the prototype of an object.');
  return value;
}
