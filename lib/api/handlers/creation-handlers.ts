import { DEFAULT_CALLBACK_EVENTS } from "#db/schema/unions.ts";
import { applyBudgetChange } from "#lib/session/budget/budget.ts";
import {
  type CreateResult,
  findReplay,
  type NewSession,
  createSession as storeSession,
} from "#lib/session/creation/create-session.ts";
import { resolveDelegation } from "#lib/session/delegation.ts";
import { SKILL_TOOLS } from "#lib/skills/skill.ts";
import { composeToolset } from "#lib/tools/toolset.ts";
import { statusPath, streamPath } from "../contract/paths.ts";
import type { CreateSessionInput } from "../contract/schemas/create-session.ts";
import { type Failure, fail } from "../http/errors.ts";
import { refuseUnpriced } from "./budget-handlers.ts";
import { refuseSecret } from "./callback-handlers.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/** The services that the creation of a session uses. */
export type CreationServices = Pick<
  ApiServices,
  | "db"
  | "sealer"
  | "jobs"
  | "freshRuns"
  | "quota"
  | "shares"
  | "schemas"
  | "rule"
  | "callbackRules"
  | "tools"
  | "readSubAgentFlag"
  | "securityLog"
> & {
  skills: Pick<ApiServices["skills"], "store">;
  settings: Pick<ApiServices["settings"], "delegation" | "model">;
};

type CreationCall = Pick<CallOf<"createSession" | "startSession">, "caller" | "body" | "hashBody">;

/**
 * `POST /api/session`: creates a session. The first turn counts as started by a program, for every value of `source`.
 * Source: specification, POST /api/session; `wire.md`, POST /api/session.
 */
export const createSession = (services: CreationServices, call: CreationCall): Promise<Answer> =>
  create(services, call, { origin: "external", source: call.body.source ?? "api" });

/**
 * Starts a session from the landing page. The first turn counts as started by a person, and `source` is `web`. Source:
 * `wire.md`, Starting a task on the landing page.
 */
export const startSession = (services: CreationServices, call: CreationCall): Promise<Answer> =>
  create(services, call, { origin: "person", source: "web" });

/** Who starts the first turn (a person or a program), and the `source` of the session's events. */
type Attribution = Pick<NewSession, "origin" | "source">;

async function create(
  services: CreationServices,
  call: CreationCall,
  attribution: Attribution,
): Promise<Answer> {
  const request: CreationRequest = {
    ...attribution,
    ownerId: call.caller.ownerId,
    bodyHash: call.hashBody(),
    idempotencyKey: call.body.idempotencyKey ?? null,
  };
  // A replay is detected before the other checks. It must succeed even if ceilings or the addresses of hosts have
  // changed since the first request.
  const replay = await findReplay(services.db, request);
  if (replay) return describeResult(services, replay);
  const input = await readProfile(services, request, call.body);
  return input.ok ? store(services, input.session) : input;
}

/** Stores a session, unless its owner has reached the quota. */
async function store(services: CreationServices, session: NewSession): Promise<Answer> {
  const admission = await services.quota.admit(session.ownerId);
  if (!admission.ok) return fail("conflict", admission.error);
  let isCreated = false;
  try {
    const result = await storeSession(services, session);
    isCreated = result.status === "created";
    return describeResult(services, result);
  } finally {
    admission.end(isCreated);
  }
}

function describeResult({ shares }: CreationServices, result: CreateResult): Answer {
  if (result.status === "reused")
    return fail("idempotency_key_reused", "idempotencyKey: was used before with another body");
  const { sessionId, requestId, runId, shareRevocation } = result;
  const isReplay = result.status === "replayed";
  const statusUrl = statusPath(sessionId, requestId);
  return {
    ok: true,
    status: isReplay ? 200 : 201,
    body: {
      success: true,
      sessionId,
      requestId,
      runId,
      statusUrl,
      shareUrl: shares.sharePath(sessionId, shareRevocation, "drive"),
      streamUrl: streamPath(sessionId, requestId),
    },
    headers: { Location: statusUrl, ...(isReplay && { "Idempotency-Replayed": "true" }) },
  };
}

/** The owner and the attribution of the session, and the values that identify a replay of the request. */
type CreationRequest = Attribution & Pick<NewSession, "ownerId" | "bodyHash" | "idempotencyKey">;

type Profile = { ok: true; session: NewSession } | Failure;

/**
 * Performs the checks that need more than the body (the deployment's ceilings, the schema compiler, the price of the
 * model, the rules for callbacks), and fills in the defaults.
 */
async function readProfile(
  services: CreationServices,
  request: CreationRequest,
  body: CreateSessionInput,
): Promise<Profile> {
  const delegation = resolveDelegation(body.delegation, services.settings.delegation);
  if (!delegation.ok) return fail("invalid_request", delegation.error);
  if (body.outputSchema !== undefined) {
    const admitted = await services.schemas.admitSchema(body.outputSchema, request.ownerId);
    if (!admitted.ok && admitted.isBusy) return fail("rate_limited", admitted.error, { "Retry-After": "5" });
    if (!admitted.ok) return fail("invalid_request", admitted.error);
  }
  const unpriced =
    body.budget?.usd === undefined ? undefined : refuseUnpriced(services.settings, "budget.usd");
  if (unpriced) return unpriced;
  const refusal = body.callback && (await refuseCallback(services, body.callback));
  if (refusal) return fail("invalid_request", refusal);

  const sandbox = body.capabilities?.sandbox ?? true;
  const capabilities = { sandbox, browser: sandbox && (body.capabilities?.browser ?? true) };
  const tools = {
    include: body.tools?.include ?? [],
    exclude: body.tools?.exclude ?? [],
    externalTurnExclude: body.tools?.externalTurnExclude ?? [],
    ...(body.tools?.approve && body.tools.approve.length > 0 && { approve: body.tools.approve }),
  };
  const userId = body.userId ?? null;
  const hasOutputSchema = body.outputSchema !== undefined;
  const subAgents = body.subAgents === true && (await mayDelegate(services, request, userId));
  const skills = await storeSkills(services, capabilities);
  const session: NewSession = {
    ...request,
    messages: body.messages,
    userId,
    metadata: body.metadata ?? null,
    targetUrl: body.targetUrl ?? null,
    targetPageUrls: body.targetPageUrls ?? [],
    outputSchema: body.outputSchema ?? null,
    tools,
    toolset: composeToolset({
      available: skills.length > 0 ? services.tools : withoutSkillTools(services.tools),
      capabilities,
      subAgents,
      hasOutputSchema,
      policy: tools,
    }),
    systemPrompt: body.systemPrompt ?? null,
    skills,
    mcpServers: Object.fromEntries(
      Object.entries(body.mcpServers ?? {}).map(
        ([id, { url, type = "http", headers = null, auth = null }]) => [id, { url, type, headers, auth }],
      ),
    ),
    capabilities,
    subAgents,
    delegation: delegation.caps,
    budget: applyBudgetChange(null, body.budget ?? {}),
    interaction: body.interaction
      ? {
          mode: body.interaction.mode,
          timeoutSeconds: body.interaction.timeoutSeconds ?? 86_400,
          onTimeout: body.interaction.onTimeout ?? "continue",
        }
      : null,
    callback: body.callback
      ? {
          url: body.callback.url,
          events: body.callback.events ?? [...DEFAULT_CALLBACK_EVENTS],
          secret: body.callback.secret ?? null,
        }
      : null,
  };
  return { ok: true, session };
}

/** Returns the skills for a new session. Returns none if the session cannot have the tools for using skills. */
const storeSkills = async (
  { tools, skills }: CreationServices,
  { sandbox }: NewSession["capabilities"],
): Promise<NewSession["skills"]> =>
  sandbox && tools.some(({ name }) => SKILL_TOOLS.includes(name)) ? skills.store() : [];

const withoutSkillTools = (tools: CreationServices["tools"]) =>
  tools.filter(({ name }) => !SKILL_TOOLS.includes(name));

/**
 * Whether a session that requests sub-agents may have them. For a caller with the source `web`, an external feature
 * flag decides (rule 3 of the specification). The operator, who is signed in on the landing page, needs no flag.
 */
const mayDelegate = async (
  services: CreationServices,
  { origin, source }: Attribution,
  userId: string | null,
): Promise<boolean> => origin === "person" || source !== "web" || (await services.readSubAgentFlag(userId));

/**
 * Returns the reason why a callback is refused. The reason begins with the name of the field. Undefined if the callback
 * is accepted.
 */
async function refuseCallback(
  services: CreationServices,
  { url, secret }: NonNullable<CreateSessionInput["callback"]>,
): Promise<string | undefined> {
  const secretRefusal = secret === undefined ? undefined : refuseSecret(services.callbackRules, secret);
  if (secretRefusal !== undefined) return `callback.secret: ${secretRefusal}`;
  const urlRefusal = await refuseTarget(services, new URL(url));
  return urlRefusal && `callback.url: ${urlRefusal}`;
}

/**
 * Returns the reason why callbacks may not be sent to a URL. Undefined if the URL is allowed. A host name that cannot
 * be resolved is accepted, because it may be resolvable when a delivery is attempted.
 */
async function refuseTarget(
  { rule, callbackRules, securityLog }: CreationServices,
  target: URL,
): Promise<string | undefined> {
  const literal = rule.refuseLiteral(target) ?? callbackRules.refuseHttp(target);
  const checked = literal === undefined ? await rule.check(target) : undefined;
  const isAllowed = checked === undefined || checked.allowed || checked.why === "unresolved";
  const reason = literal ?? (isAllowed ? undefined : checked.reason);
  if (reason !== undefined) securityLog.networkRefused({ source: "callback", host: target.host, reason });
  return reason;
}

export const creationHandlers = {
  createSession,
  startSession,
} satisfies Partial<Handlers>;
