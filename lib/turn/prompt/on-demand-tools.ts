import type { JSONSchema7 } from "@ai-sdk/provider";
import { z } from "zod";
import { CALL_TOOL, LOAD_TOOLS } from "#lib/catalogue/tools.ts";
import { callToolInput, type ModelTool } from "#lib/model/calls/model-tool.ts";
import { errorResult, makeTool, type Tool, textResult } from "#lib/tools/tool.ts";

/** A tool with its definition for the model. */
export type DefinedTool = { tool: Tool; modelTool: ModelTool };

const NAMES_MAX = 40;
const NAME_CHARACTERS_MAX = 100;

/**
 * Creates the two tools that give access to tools on demand: `load_tools` returns their definitions as its result, and
 * `call_tool` runs them. So the tools of a model call stay the same in a session, and providers can cache the prompt.
 * Source: decision 110.
 *
 * @param onDemand the tools on demand; at least one.
 */
export function createOnDemandTools(onDemand: readonly DefinedTool[]): {
  load: DefinedTool & { tool: Tool };
  call: ModelTool;
} {
  const tool = makeTool({
    name: LOAD_TOOLS,
    description: `Returns the inputs of further tools, for ${CALL_TOOL}. ${listKinds(onDemand)}`,
    input: z.object({ names: z.array(z.string().max(NAME_CHARACTERS_MAX)).min(1).max(NAMES_MAX) }),
    needs: undefined,
    profile: "always",
    idempotent: true,
    readOnly: true,
    readsStore: true,
    changes: false,
    execute: async ({ names }) => loadTools(onDemand, names),
  });
  const load: ModelTool = {
    input: tool.input,
    definition: {
      type: "function",
      name: LOAD_TOOLS,
      description: tool.description,
      inputSchema: objectOf({ names: { type: "array", items: { type: "string" } } }),
    },
  };
  const call: ModelTool = {
    input: callToolInput,
    definition: {
      type: "function",
      name: CALL_TOOL,
      description: `Calls a tool of ${LOAD_TOOLS}.`,
      inputSchema: objectOf({ name: { type: "string" }, input: { type: "object", properties: {} } }),
      // In strict mode, the input of the called tool could have no fields.
      strict: false,
    },
  };
  return { load: { tool, modelTool: load }, call };
}

const objectOf = (properties: Record<string, JSONSchema7>): JSONSchema7 => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});

/** Lists the names of the tools by kind: `Tests: run_tests, wait_for_test_results.` */
function listKinds(tools: readonly DefinedTool[]): string {
  const kinds = Map.groupBy(tools, ({ tool }) => tool.onDemand);
  return [...kinds]
    .map(([kind = "other", some]) => {
      const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
      return `${name}: ${some.map(({ modelTool }) => modelTool.definition.name).join(", ")}.`;
    })
    .join(" ");
}

/** Returns the definitions of the named tools. A kind of tools names all tools of the kind. */
function loadTools(tools: readonly DefinedTool[], names: readonly string[]) {
  const found = names.map((name) => ({
    name,
    some: tools.filter(({ tool }) => tool.name === name || tool.onDemand === name.toLowerCase()),
  }));
  const loaded = new Set(found.flatMap(({ some }) => some));
  const unknown = found.flatMap(({ name, some }) => (some.length === 0 ? [name] : []));
  const problems = unknown.length > 0 ? [describeUnknown(tools, unknown)] : [];
  if (loaded.size === 0) return errorResult(problems.join(""));
  return textResult(
    [...[...loaded].map(({ modelTool }) => describeTool(modelTool)), ...problems].join("\n\n"),
  );
}

const describeTool = ({ definition: { name, description, inputSchema } }: ModelTool): string =>
  `${name}: ${description ?? ""}\ninput: ${JSON.stringify(inputSchema)}`;

const describeUnknown = (tools: readonly DefinedTool[], names: readonly string[]): string =>
  `Not among the tools to load: ${names.join(", ")}. They are: ${tools.map(({ tool }) => tool.name).join(", ")}.`;
