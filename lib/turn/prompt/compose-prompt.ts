import type { JSONSchema7 } from "@ai-sdk/provider";
import { z } from "zod";
import { CALL_TOOL } from "#lib/catalogue/tools.ts";
import { BUILTIN } from "#lib/mcp-client/tool-server.ts";
import { toToolName } from "#lib/mcp-client/tools/admit-tools.ts";
import type { ModelTool } from "#lib/model/calls/model-tool.ts";
import { leaveOutMissing } from "#lib/tools/leave-out-missing.ts";
import type { Tool } from "#lib/tools/tool.ts";
import { selectRunTools } from "#lib/tools/toolset.ts";
import type { Claim } from "../record/claim.ts";
import type { Prompt, RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { composeInstructions } from "./instructions.ts";
import { createOnDemandTools, type DefinedTool } from "./on-demand-tools.ts";

/**
 * Composes a run's prompt: its instructions and its tools. The tools are those of the session's toolset that this
 * deployment has. If the run's origin is not `person`, the tools that the session and the deployment exclude from such
 * turns are removed.
 *
 * @param remote the tools of the session's tool servers that the policy allows in this run.
 */
export function composePrompt(
  deps: Pick<TurnDeps, "tools" | "settings">,
  claim: Claim,
  run: Pick<RunInPlay, "session" | "agent" | "skills">,
  remote: readonly Tool[] = [],
): Prompt {
  const { session, agent, skills } = run;
  const names = selectRunTools({
    toolset: session.toolset,
    available: [...deps.tools.values()],
    origin: claim.origin,
    externalTurnExclude: session.tools.externalTurnExclude,
    deploymentExclude: deps.settings.externalTurnExclude,
  });
  const hasWorkspace = session.capabilities.sandbox && deps.tools.has("list_files");
  const instructions = composeInstructions({
    hasBrowser: hasBrowser(deps, run),
    hasWorkspace,
    toolNames: [...names, ...remote.map(({ name }) => name)],
    skills,
    agent,
    systemPrompt: session.systemPrompt,
    outputSchema: claim.isStructured ? session.outputSchema : null,
  });
  const whole = session.tools.include;
  const own = describeTools(deps.tools, names, { whole, hasWorkspace });
  if (remote.length === 0) return { instructions, ...toDescribed(own) };
  // In an editing session, the tools of the service's own server are on demand, unless the caller has asked for them.
  const isEditing = !claim.isStructured && names.includes("apply_variant");
  const isAskedFor = !isEditing || Object.hasOwn(session.mcpServers, BUILTIN);
  const defined = remote.map((tool) =>
    isOfBuiltin(tool) && !isAskedFor && !whole.includes(tool.name)
      ? makeOnDemand(describeRemote(tool))
      : describeRemote(tool),
  );
  return { instructions, ...toDescribed([...own, ...defined]) };
}

const isOfBuiltin = ({ name }: Pick<Tool, "name">): boolean => name.startsWith(toToolName(BUILTIN, ""));

const makeOnDemand = ({ tool, modelTool }: DefinedTool): DefinedTool => ({
  tool: { ...tool, onDemand: "utilities" },
  modelTool: { ...modelTool, isOnDemand: true },
});

/** Whether a session has a browser on this deployment. */
export const hasBrowser = (
  { tools }: Pick<TurnDeps, "tools">,
  { session, agent }: Pick<RunInPlay, "session" | "agent">,
): boolean =>
  session.capabilities.browser &&
  session.capabilities.sandbox &&
  tools.has("dom_query") &&
  agent?.browser !== "none";

const toModelTool = ({ name, description, input, jsonSchema }: Tool): ModelTool => ({
  input,
  definition: {
    type: "function",
    name,
    description,
    inputSchema: jsonSchema ?? shortSchema(input),
    // Strict mode is switched off, because the schemas of tool servers do not follow its rules.
    ...(jsonSchema && { strict: false }),
  },
});

/**
 * Returns the schema of a tool's input in a short form, because the schema is sent with every model call. Keywords that
 * do not help a model are left out. Tool calls are validated with the full schema.
 */
const shortSchema = (input: z.ZodType): JSONSchema7 =>
  shorten(z.toJSONSchema(input, { target: "draft-7", io: "input" }) as JSONSchema7);

/**
 * The schema keywords to leave out. An input field of the same name would be left out as well, but no tool has such a
 * field.
 */
const LEFT_OUT = new Set(
  "$schema additionalProperties minLength maxLength minItems maxItems minimum maximum pattern default examples".split(
    " ",
  ),
);

const shorten = (schema: JSONSchema7): JSONSchema7 =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (LEFT_OUT.has(key) ? undefined : joinTypes(value))),
  );

/** Writes a choice between plain types as one list of types. */
function joinTypes(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("anyOf" in value)) return value;
  const { anyOf, ...rest } = value as { anyOf: JSONSchema7[] };
  const types = anyOf.flatMap((each) => (isPlain(each) ? (each.type ?? []) : []));
  return types.length === anyOf.length ? { ...rest, type: types } : value;
}

const isPlain = (schema: JSONSchema7): boolean =>
  Object.keys(schema).every((key) => key === "type" || LEFT_OUT.has(key));

const shortened = new WeakMap<object, Record<string, unknown>>();

/** Describes a tool of a tool server. Only the schemas of the service's own server are shortened. */
function describeRemote(tool: Tool): DefinedTool {
  const { jsonSchema } = tool;
  if (!jsonSchema || !isOfBuiltin(tool)) return { tool, modelTool: toModelTool(tool) };
  const short = shortened.get(jsonSchema) ?? { ...shorten(jsonSchema) };
  shortened.set(jsonSchema, short);
  return { tool, modelTool: toModelTool({ ...tool, jsonSchema: short }) };
}

const defined = new WeakMap<TurnDeps["tools"], Map<string, readonly DefinedTool[]>>();

/**
 * Returns the named tools with their definitions for the model. Most runs have the same tools, so the result is cached.
 *
 * @param whole the tools whose definitions are sent although they are on demand.
 */
function describeTools(
  all: TurnDeps["tools"],
  names: readonly string[],
  { whole, hasWorkspace }: { whole: readonly string[]; hasWorkspace: boolean },
): readonly DefinedTool[] {
  const cache = defined.get(all) ?? new Map<string, readonly DefinedTool[]>();
  defined.set(all, cache);
  const sent = whole.filter((name) => names.includes(name)).toSorted();
  const key = JSON.stringify([hasWorkspace, names, sent]);
  const cached = cache.get(key);
  if (cached) return cached;
  const has = { tool: (name: string) => names.includes(name), workspace: hasWorkspace };
  const described = names.flatMap((name): DefinedTool[] => {
    const tool = all.get(name);
    if (!tool) return [];
    const modelTool = toModelTool({ ...tool, description: leaveOutMissing(tool.description, has) });
    const isOnDemand = tool.onDemand !== undefined && !sent.includes(name);
    return [{ tool, modelTool: isOnDemand ? { ...modelTool, isOnDemand } : modelTool }];
  });
  cache.set(key, described);
  return described;
}

const toldBefore = new WeakMap<readonly DefinedTool[], Pick<Prompt, "tools" | "modelTools">>();

/** Adds the two tools that give access to tools on demand, if there are such tools. */
function toDescribed(described: readonly DefinedTool[]): Pick<Prompt, "tools" | "modelTools"> {
  const cached = toldBefore.get(described);
  if (cached) return cached;
  const onDemand = described.filter(({ modelTool }) => modelTool.isOnDemand);
  const access = onDemand.length > 0 ? createOnDemandTools(onDemand) : undefined;
  const all = access ? [...described, access.load] : described;
  const modelTools = all.map(({ tool, modelTool }) => [tool.name, modelTool] as const);
  const created = {
    tools: new Map(all.map(({ tool }) => [tool.name, tool])),
    modelTools: new Map([...modelTools, ...(access ? [[CALL_TOOL, access.call] as const] : [])]),
  };
  toldBefore.set(described, created);
  return created;
}
