import type { JSONSchema7 } from "@ai-sdk/provider";
import { z } from "zod";
import type { ModelTool } from "#lib/model/calls/model-tool.ts";
import { leaveOutMissing } from "#lib/tools/leave-out-missing.ts";
import type { Tool } from "#lib/tools/tool.ts";
import { selectRunTools } from "#lib/tools/toolset.ts";
import type { Claim } from "../record/claim.ts";
import type { Prompt, RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { composeInstructions } from "./instructions.ts";

/** What a session's tool servers add to a run. */
type RemoteTools = { tools: readonly Tool[]; missingServers: readonly string[] };

/**
 * Composes a run's prompt: its instructions and its tools. The tools are those of the session's toolset that this
 * deployment has. If the run's origin is not `person`, the tools that the session and the deployment exclude from such
 * turns are removed.
 *
 * @param remote the tools of the session's tool servers that the policy allows in this run, and the ids of servers that
 * could not be reached.
 */
export function composePrompt(
  deps: Pick<TurnDeps, "tools" | "settings">,
  claim: Claim,
  run: Pick<
    RunInPlay,
    "session" | "agent" | "currentUrl" | "selectedUrl" | "variants" | "planning" | "imports" | "skills"
  >,
  remote: RemoteTools = { tools: [], missingServers: [] },
): Prompt {
  const { session, agent, currentUrl, selectedUrl, variants, planning, imports, skills } = run;
  const names = selectRunTools({
    toolset: session.toolset,
    available: [...deps.tools.values()],
    origin: claim.origin,
    externalTurnExclude: session.tools.externalTurnExclude,
    deploymentExclude: deps.settings.externalTurnExclude,
  });
  const hasWorkspace = session.capabilities.sandbox && deps.tools.has("list_files");
  const instructions = composeInstructions({
    hasBrowser:
      session.capabilities.browser &&
      session.capabilities.sandbox &&
      deps.tools.has("dom_query") &&
      agent?.browser !== "none",
    hasWorkspace,
    toolNames: [...names, ...remote.tools.map(({ name }) => name)],
    missingServers: remote.missingServers,
    selectedUrl,
    targetPageUrls: [...(session.targetUrl === null ? [] : [session.targetUrl]), ...session.targetPageUrls],
    currentUrl,
    variants,
    planning,
    imports,
    skills,
    demoUrl: deps.settings.demoUrl,
    agent,
    systemPrompt: session.systemPrompt,
    outputSchema: claim.isStructured ? session.outputSchema : null,
    isPersonPresent: claim.isPersonPresent,
  });
  const own = describeTools(deps.tools, names, hasWorkspace);
  if (remote.tools.length === 0) return { instructions, ...own };
  return {
    instructions,
    tools: new Map([...own.tools, ...remote.tools.map((each) => [each.name, each] as const)]),
    modelTools: new Map([...own.modelTools, ...remote.tools.map(toNamedModelTool)]),
  };
}

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
  "$schema additionalProperties minLength maxLength minItems maxItems minimum maximum pattern".split(" "),
);

const shorten = (schema: JSONSchema7): JSONSchema7 =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      const isEmptyDefault = key === "default" && (!value || (Array.isArray(value) && value.length === 0));
      return LEFT_OUT.has(key) || isEmptyDefault ? undefined : value;
    }),
  );

const toNamedModelTool = (tool: Tool) => [tool.name, toModelTool(tool)] as const;

type DescribedTools = Pick<Prompt, "tools" | "modelTools">;

const described = new WeakMap<TurnDeps["tools"], Map<string, DescribedTools>>();

/** Returns the named tools and their definitions for the model. Most runs have the same tools, so the result is cached. */
function describeTools(all: TurnDeps["tools"], names: string[], hasWorkspace: boolean): DescribedTools {
  const cache = described.get(all) ?? new Map<string, DescribedTools>();
  described.set(all, cache);
  const key = [hasWorkspace, ...names].join(" ");
  const cached = cache.get(key);
  if (cached) return cached;
  const tools = names.flatMap((name) => all.get(name) ?? []);
  const has = { tool: (name: string) => names.includes(name), workspace: hasWorkspace };
  const created: DescribedTools = {
    tools: new Map(tools.map((definition) => [definition.name, definition])),
    modelTools: new Map(
      tools.map((tool) => toNamedModelTool({ ...tool, description: leaveOutMissing(tool.description, has) })),
    ),
  };
  cache.set(key, created);
  return created;
}
