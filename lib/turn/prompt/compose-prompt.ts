import type { JSONSchema7 } from "@ai-sdk/provider";
import { z } from "zod";
import type { ModelTool, ModelTools } from "#lib/model/calls/model-tool.ts";
import type { Tool } from "#lib/tools/tool.ts";
import { selectRunTools } from "#lib/tools/toolset.ts";
import type { Claim } from "../record/claim.ts";
import type { RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { composeInstructions } from "./instructions.ts";

/** What stays the same for all model calls of a run. */
export type Prompt = {
  instructions: string;
  tools: ReadonlyMap<string, Tool>;
  /** The same tools as the model is told of them. */
  modelTools: ModelTools;
};

/** What a session's tool servers add to a run. */
type RemoteTools = { tools: readonly Tool[]; missingServers: readonly string[] };

/**
 * Composes a run's prompt: its tools (the session's toolset, intersected with what exists now, without what filter 6
 * removes) and its instructions.
 *
 * @param remote the tools of the session's tool servers that the policy leaves to this run, and the servers that could
 * not be asked.
 */
export function composePrompt(
  deps: Pick<TurnDeps, "tools" | "settings">,
  claim: Claim,
  run: Pick<RunInPlay, "session" | "agent" | "currentUrl" | "variants" | "planning" | "imports" | "skills">,
  remote: RemoteTools = { tools: [], missingServers: [] },
): Prompt {
  const { session, agent, currentUrl, variants, planning, imports, skills } = run;
  const names = selectRunTools({
    toolset: session.toolset,
    available: [...deps.tools.values()],
    origin: claim.origin,
    externalTurnExclude: session.tools.externalTurnExclude,
  });
  const instructions = composeInstructions({
    toolNames: [...names, ...remote.tools.map(({ name }) => name)],
    missingServers: remote.missingServers,
    targetUrl: session.targetUrl,
    targetPageUrls: session.targetPageUrls,
    currentUrl,
    variants,
    planning,
    imports,
    skills,
    demoUrl: deps.settings.demoUrl,
    agent,
    systemPrompt: session.systemPrompt,
    outputSchema: claim.isStructured ? session.outputSchema : null,
    isPersonPresent: claim.origin === "person",
  });
  const own = describeTools(deps.tools, names);
  if (remote.tools.length === 0) return { instructions, ...own };
  return {
    instructions,
    tools: new Map([...own.tools, ...remote.tools.map((each) => [each.name, each] as const)]),
    modelTools: new Map([...own.modelTools, ...toModelTools(remote.tools)]),
  };
}

const toModelTool = ({ name, description, input, jsonSchema }: Tool): ModelTool => ({
  input,
  definition: {
    type: "function",
    name,
    description,
    inputSchema: jsonSchema ?? shortSchema(input),
    // What others wrote does not keep to the rules that a provider's strict mode asks for.
    ...(jsonSchema && { strict: false }),
  },
});

/** The input's schema without what helps no model, for it goes with every call; a call is checked with the whole of it. */
const shortSchema = (input: z.ZodType): JSONSchema7 =>
  shorten(z.toJSONSchema(input, { target: "draft-7", io: "input" }) as JSONSchema7);

/** Keywords, none of which is the name of a tool's own field. */
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

const toModelTools = (tools: readonly Tool[]): ModelTools =>
  new Map(tools.map((each) => [each.name, toModelTool(each)]));

type Described = Pick<Prompt, "tools" | "modelTools">;

const described = new WeakMap<TurnDeps["tools"], Map<string, Described>>();

/**
 * Tools as the model is told of them. Most runs have the same ones, so a list is made once for all of them.
 */
function describeTools(all: TurnDeps["tools"], names: string[]): Described {
  const known = described.get(all) ?? new Map<string, Described>();
  described.set(all, known);
  const key = names.join(" ");
  const cached = known.get(key);
  if (cached) return cached;
  const tools = names.flatMap((name) => all.get(name) ?? []);
  const made = {
    tools: new Map(tools.map((definition) => [definition.name, definition])),
    modelTools: toModelTools(tools),
  };
  known.set(key, made);
  return made;
}
