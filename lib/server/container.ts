import type { Logger } from "pino";
import type { AgentsDeps } from "#lib/agents/agents-deps.ts";
import { cancelChildren } from "#lib/agents/cancel-agents.ts";
import { serveAnswerPage } from "#lib/api/answer-page/serve-answer-page.ts";
import { exchangeLinkForCookie, type PageRequest } from "#lib/api/auth/exchange-link.ts";
import { logInOperation } from "#lib/api/contract/operations/logins.ts";
import { logIn } from "#lib/api/handlers/login-handlers.ts";
import type { ApiServices } from "#lib/api/handlers/services.ts";
import { clientOf } from "#lib/api/http/client-address.ts";
import { deleteFullBuckets } from "#lib/api/http/rates/rate-store.ts";
import { createLiveHub } from "#lib/api/live/live-hub.ts";
import type { Mounted } from "#lib/api/next/find-container.ts";
import { loadReportPage } from "#lib/api/next/load-report-page.ts";
import { loadLivePage, loadSessionPage, loadSnapshot } from "#lib/api/next/load-session-page.ts";
import { loadLandingPage } from "#lib/api/next/page-loaders.ts";
import { serveOperation } from "#lib/api/serve/serve-operation.ts";
import { servePath } from "#lib/api/serve/serve-path.ts";
import { submitFromOverlay } from "#lib/api/serve/submit-from-overlay.ts";
import { createBrowserControl } from "#lib/browser/view/browser-control.ts";
import { listRunningHosts } from "#lib/browser-host/service/host-status-store.ts";
import { createHttpRefusal } from "#lib/callback/endpoint/refuse-http.ts";
import { createSchemaChecker } from "#lib/deliverable/admission/create-schema-checker.ts";
import { createDiskFloor } from "#lib/disk/disk-floor.ts";
import { findControlGroups } from "#lib/isolation/control-groups.ts";
import { createBuiltinMcp } from "#lib/mcp-server/create-builtin-mcp.ts";
import { createModel } from "#lib/model/create-model.ts";
import { observeModel } from "#lib/model/observe-model.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createGuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import { createGuardedPost } from "#lib/net/fetch/guarded-post.ts";
import { chooseProfile } from "#lib/projection/profile/profile.ts";
import { deriveUserTokenKey } from "#lib/secrets/user-token.ts";
import { applyBudgetChange, type Budget } from "#lib/session/budget/budget.ts";
import { deleteOwnerSpendBefore } from "#lib/session/budget/budget-store.ts";
import { createElicitations } from "#lib/session/elicitation/elicitation.ts";
import { createOwnerQuota } from "#lib/session/quota/owner-quota.ts";
import { countOf } from "#lib/text/count-of.ts";
import { hideFolder } from "#lib/text/error-text.ts";
import { createOwnerAccounts } from "#lib/turn/run/owner-accounts.ts";
import { createSpending, type Spending } from "#lib/turn/run/spending.ts";
import { deleteOldForms } from "#lib/turn/structured/schema-form-store.ts";
import { applyRetention } from "./apply-retention.ts";
import { checkPaths } from "./check-paths.ts";
import { connectToolServers } from "./connect-tool-servers.ts";
import { createAccess } from "./create-access.ts";
import { createRunners, createTooling } from "./create-tooling.ts";
import { createTurnPlayer } from "./create-turn-player.ts";
import type { Env } from "./env.ts";
import { followRemovals } from "./follow-removals.ts";
import { openSecurityLog } from "./open-security-log.ts";
import { openStorage } from "./open-storage.ts";
import { answerPageRequest } from "./serve-pages.ts";
import { askSubAgentFlag } from "./sub-agent-flag.ts";

export type Container = Awaited<ReturnType<typeof createContainer>>;

type ContainerOptions = { isServerless?: boolean; launcherPath?: string };
type Parts = Awaited<ReturnType<typeof createParts>>;

/**
 * Builds the whole service from its settings. Only this module chooses the implementations of ports (interfaces).
 *
 * @param options.isServerless whether the service runs in serverless functions, which cannot keep files on disk and may
 * be frozen after a response. The caller has checked the settings with `requireServerless`.
 * @param options.launcherPath search path for the programs that confine commands and scripts; the system's by default.
 * @throws Error with a readable message if a part cannot be created.
 */
export async function createContainer(env: Env, logger: Logger, options: ContainerOptions = {}) {
  await checkPaths(env);
  const parts = await createParts(env, logger, options);
  const { storage, tooling, player, removals, model } = parts;
  const services = createServices(env, logger, parts);
  parts.connectApi(services);
  return {
    mounted: mount(env, services, parts),
    relayToHost: tooling.relayToHost,
    services,
    sweep: player.sweep,
    sweepWithRequest: player.sweepWithRequest,
    exchangeLinkForCookie: (request: PageRequest) => exchangeLinkForCookie(services, request),
    sweepRemovals: removals.sweep,
    retention: parts.retention,
    apiKey: env.SERVICE_API_KEYS.length === 0 ? storage.generatedKey : undefined,
    describe: () => ({
      model: model.label,
      database: storage.describe(),
      engine: player.engine.label,
      browser: tooling.browser.describe().detail,
      sandbox: tooling.sandbox.describe().detail,
      isolation: describeIsolation(tooling),
      missingTools: tooling.missingTools,
    }),
    /** Resumes open runs and starts to execute new runs. */
    async start() {
      logger.info({ isolation: describeIsolation(tooling) }, "session isolation was set up");
      await player.start();
      recordStart(parts);
      removals
        .sweep(new Date())
        .catch((error: unknown) => logger.warn({ err: error }, "cleanup of deleted sessions failed"));
    },
    isDatabaseAvailable: async () => (await storage.check()).database.ok,
    /** Begins no more steps of turns, and waits up to `graceMs` for those in progress. */
    drain: (graceMs: number) => player.drain(graceMs),
    /** If `isFinal` (default), the browsers on this machine end, too, unless another process uses them. */
    close: ({ isFinal = true } = {}) => close(parts, isFinal),
  };
}

/** Creates the parts on which all other parts depend. */
async function createBase(env: Env, logger: Logger, options: ContainerOptions) {
  const { isServerless = false, launcherPath } = options;
  const securityLog = openSecurityLog(env, logger);
  // Before any other process is started, because control groups can be enabled only in a group without other processes.
  const groups = env.SANDBOX === "local" && !isServerless ? await findControlGroups() : undefined;
  hideFolder(env.DATA_DIR);
  const disk = createDiskFloor(env.DATA_DIR, env.DISK_FREE_MIN_MB * 2 ** 20);
  const opening = openStorage(env, logger, isServerless);
  const runnersDeps = { env, logger, groups, disk, isServerless, storage: opening, launcherPath };
  const runnersReady = createRunners(runnersDeps);
  // If both fail, the error of the storage is reported, because it is likely to be the cause.
  const storage = await opening.catch(async (error: unknown) => {
    const runners = await runnersReady.catch(() => undefined);
    await Promise.all([runners?.sandbox.close(), runners?.scripts?.close()]);
    throw error;
  });
  const runners = await runnersReady.catch(async (error: unknown) => {
    await storage.close();
    throw error;
  });
  const rule = createAddressRule({ allow: env.NETWORK_ALLOW });
  const fetch = createGuardedFetch(rule, { onRefused: securityLog.networkRefused });
  const post = createGuardedPost(rule, { onRefused: securityLog.networkRefused });
  const elicitations = createElicitations({ db: storage.db, log: storage.log });
  const control = createBrowserControl(storage.openTopic("browser-control"));
  return {
    env,
    logger,
    securityLog,
    isServerless,
    disk,
    storage,
    rule,
    fetch,
    post,
    elicitations,
    control,
    runners,
  };
}

type Base = Awaited<ReturnType<typeof createBase>>;

/** Creates the parts in the order of their dependencies. */
async function createParts(env: Env, logger: Logger, options: ContainerOptions) {
  const base = await createBase(env, logger, options);
  const { storage } = base;
  const access = createAccess(env, base);
  const { model, readHealth: readModelHealth } = await createObservedModel(env);
  const schemas = createSchemaChecker({ profile: env.STRUCTURED_PROFILE ?? chooseProfile(model.id) });
  const spending = openSpending(base, model.id);
  const quota = createOwnerQuota(storage.db, env.ownerLimits);
  // The overlay of a page submits through the API, but the API needs the browsers. So the API is connected later.
  const api = Promise.withResolvers<ApiServices>();
  // The delegation tools start and stop turns, and the turn player needs the tools. So the player is connected later.
  const playerReady = Promise.withResolvers<ReturnType<typeof createTurnPlayer>>();
  const jobs = createDeferredJobs(base, playerReady.promise);
  const agents = createAgentsDeps(base, schemas, jobs, playerReady.promise);
  const tooling = await createTooling({
    ...base,
    agents,
    jobs,
    onAnnotation: async (sessionId, body, key) => submitFromOverlay(await api.promise, sessionId, body, key),
  });
  const live = openLiveHub(base, access, tooling);
  const tokenKey = deriveUserTokenKey(storage.encryptionKey);
  const builtinMcp = openMcpServer(base, access, tooling, tokenKey, api.promise);
  const mcp = connectToolServers({ ...base, schemas, tokenKey, serveMcp: builtinMcp.serve });
  const retention = applyRetention({
    env,
    logger,
    db: storage.db,
    dataDir: storage.dataDir,
    isAlone: storage.isEmbedded,
    securityLog: base.securityLog,
    remove: (...removal) => removals.remove(...removal),
  });
  const player = createTurnPlayer({
    ...base,
    retention,
    cancelChildren: (sessionId) => cancelChildren(agents, sessionId),
    schemas,
    model,
    spending,
    mcp,
    tooling,
    otherSweeps: {
      removals: () => removals.sweep(new Date()),
      "rate limits": () => deleteFullBuckets(storage.db),
      "forms of schemas": () => deleteOldForms(storage.db),
      logins: () => access.logins.deleteOld(),
      "spending of owners": async () => {
        if (hasOwnerBudget(env)) await deleteOwnerSpendBefore(storage.db, yesterday());
      },
    },
  });
  playerReady.resolve(player);
  const removals = openRemovals(base, tooling, live, player);
  const connectApi = api.resolve;
  const parts = {
    ...base,
    schemas,
    access,
    model,
    spending,
    quota,
    readModelHealth,
    tooling,
    live,
    builtinMcp,
    mcp,
  };
  return { ...parts, player, retention, removals, connectApi };
}

type Access = ReturnType<typeof createAccess>;
type Tooling = Awaited<ReturnType<typeof createTooling>>;

/** Creates the job sender for tools. It sends jobs as soon as the turn player exists. */
const createDeferredJobs = (
  { logger }: Base,
  player: Promise<ReturnType<typeof createTurnPlayer>>,
): AgentsDeps["jobs"] => ({
  sendSoon: (jobs) =>
    void player.then(
      (readyPlayer) => readyPlayer.jobs.sendSoon(jobs),
      (error: unknown) => logger.error({ err: error }, "jobs requested by tools were not sent"),
    ),
});

/** Creates the dependencies of delegation. */
const createAgentsDeps = (
  { env, storage: { db, log, sealer } }: Base,
  schemas: AgentsDeps["schemas"],
  jobs: AgentsDeps["jobs"],
  player: Promise<ReturnType<typeof createTurnPlayer>>,
): AgentsDeps => ({
  db,
  log,
  sealer,
  schemas,
  jobs,
  stopRun: async (runId) => (await player).turn.stopRun(runId),
  limits: {
    maxLiveChildren: env.DELEGATION_MAX_LIVE_CHILDREN,
    maxLiveBrowsers: env.DELEGATION_MAX_LIVE_BROWSERS,
    maxDepth: env.DELEGATION_MAX_DEPTH,
    maxLiveTotal: env.DELEGATION_MAX_LIVE_TOTAL,
  },
});

const openLiveHub = (
  { env, logger, securityLog, storage: { db, log, openTopic }, control }: Base,
  { access, shares, authenticate, failedAttempts }: Access,
  { browser }: Tooling,
) =>
  createLiveHub({
    db,
    log,
    logger,
    securityLog,
    browser,
    control,
    openTopic,
    access,
    shares,
    authenticate,
    failedAttempts,
    settings: { baseUrl: env.baseUrl },
  });

function openMcpServer(
  base: Base,
  access: Access,
  tooling: Tooling,
  tokenKey: Uint8Array,
  api: Promise<ApiServices>,
) {
  const { env, logger, securityLog, fetch, storage } = base;
  const previousTokenKeys = storage.previousKeys.map(deriveUserTokenKey);
  const { tools, evidence, pages, compare, planGate } = tooling;
  return createBuiltinMcp({
    ...access,
    api,
    logger,
    securityLog,
    fetch,
    tools,
    evidence,
    pages,
    compare,
    planGate,
    tokenKey,
    previousTokenKeys,
    db: storage.db,
    log: storage.log,
    deploymentExclude: env.EXTERNAL_TURN_EXCLUDE,
    baseUrl: env.baseUrl,
    topic: storage.openTopic("mcp-cancelled"),
  });
}

const openRemovals = (
  { logger, securityLog, storage: { db, bus, log, dataDir } }: Base,
  { browser, sandbox }: Tooling,
  live: ReturnType<typeof createLiveHub>,
  { stops, waitForPlays }: ReturnType<typeof createTurnPlayer>,
) =>
  followRemovals({
    db,
    bus,
    log,
    logger,
    securityLog,
    browser,
    sandbox,
    live,
    dataDir,
    stops,
    waitForPlays,
  });

const createObservedModel = async (env: Env) =>
  observeModel(
    await createModel({
      openaiApiKey: env.OPENAI_API_KEY,
      openaiBaseUrl: env.OPENAI_BASE_URL,
      gatewayApiKey: env.AI_GATEWAY_API_KEY,
      agentModel: env.AGENT_MODEL,
      api: env.AGENT_MODEL_API,
      contextTokens: env.AGENT_CONTEXT_TOKENS,
      maxOutputTokens: env.AGENT_MAX_OUTPUT_TOKENS,
      demoOrigin: env.ownOrigin,
    }),
  );

/** Creates the services that operations use. */
function createServices(env: Env, logger: Logger, parts: Parts): ApiServices {
  const { storage, tooling, player, live, model, control, elicitations, rule, schemas, builtinMcp } = parts;
  const { browser, evidence, transcript, tools, skills, variants, publishedScripts } = tooling;
  const { planning, landing, servedPages, porting, testRuns } = tooling;
  const services: ApiServices = {
    ...parts.access,
    db: storage.db,
    log: storage.log,
    sealer: storage.sealer,
    jobs: player.jobs,
    freshRuns: player.freshRuns,
    turn: player.turn,
    spending: parts.spending,
    quota: parts.quota,
    logger,
    securityLog: parts.securityLog,
    browser,
    evidence,
    sandbox: tooling.sandbox,
    transcript,
    tools,
    deployment: {
      missingTools: tooling.missingTools,
      scripts: tooling.describeScripts(),
      listHosts: () => listRunningHosts(storage.db),
    },
    skills,
    variants,
    publishedScripts,
    planning,
    landing,
    servedPages,
    porting,
    testRuns,
    control,
    elicitations,
    rule,
    callbackRules: {
      secretLengthMin: env.CALLBACK_SECRET_MIN,
      refuseHttp: createHttpRefusal(env.CALLBACK_HTTP, env.NETWORK_ALLOW),
    },
    schemas,
    builtinMcp,
    queueChanged: live.queueChanged,
    removeSession: parts.removals.remove,
    readSubAgentFlag: (userId) => askSubAgentFlag(env.SUBAGENT_WEB_FLAG_URL, userId, logger),
    readiness: () => readReadiness(parts),
    readSnapshot: (sessionId, access) => loadSnapshot(services, sessionId, access),
    settings: {
      baseUrl: env.baseUrl,
      pagesOrigin: env.pagesOrigin,
      delegation: {
        maxLiveChildren: env.DELEGATION_MAX_LIVE_CHILDREN,
        maxLiveBrowsers: env.DELEGATION_MAX_LIVE_BROWSERS,
      },
      annotations: env.annotationLimits,
      excludesTools: env.EXTERNAL_TURN_EXCLUDE.length > 0,
      firstPartyOrigins: env.FIRST_PARTY_ORIGINS,
      embedOrigins: env.EMBED_ORIGINS,
      model: {
        id: model.id,
        label: model.label,
        isDemo: model.isDemo,
        isPriced: env.MODEL_PRICES.has(model.id),
      },
    },
  };
  return services;
}

/** Describes in one line how sessions are isolated from each other. */
function describeIsolation({ sandbox, describeScripts }: Parts["tooling"]): string {
  return `commands: ${sandbox.describe().isolation}; scripts: ${describeScripts()}`;
}

/** Returns the daily budget of each owner; undefined if the settings contain no such budget. */
function readOwnerBudget(env: Env): Budget | undefined {
  return (
    applyBudgetChange(null, {
      usd: env.OWNER_BUDGET_USD_PER_DAY || null,
      tokens: env.OWNER_BUDGET_TOKENS_PER_DAY || null,
      minutes: env.OWNER_BUDGET_MINUTES_PER_DAY || null,
    }) ?? undefined
  );
}

const hasOwnerBudget = (env: Env): boolean => readOwnerBudget(env) !== undefined;

const yesterday = (): string => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

/**
 * Creates the service that counts what runs spend, and enforces budgets.
 * @throws Error if owners have a budget in US dollars and the model has no price.
 */
function openSpending({ env, logger, storage: { db, openTopic } }: Base, modelId: string): Spending {
  const price = env.MODEL_PRICES.get(modelId);
  const budget = readOwnerBudget(env);
  if (budget?.usd !== undefined && !price)
    throw new Error(`OWNER_BUDGET_USD_PER_DAY: needs the price of ${modelId} in MODEL_PRICES`);
  const owners = budget && createOwnerAccounts({ db, logger }, budget);
  return createSpending({ db, price, owners, topic: openTopic("budget-changed") });
}

async function readReadiness(parts: Parts) {
  const { storage, disk, tooling, player, removals, readModelHealth } = parts;
  const { available, detail } = tooling.browser.describe();
  const sandbox = tooling.sandbox.describe();
  const { database, folder } = await storage.check();
  const engine = await player.engine.readHealth();
  const problem = folder.ok && storage.dataDir !== undefined ? await disk.findProblem() : undefined;
  const files = problem === undefined ? folder : { ok: false, detail: problem };
  const unerased = removals.countFailures();
  // Incomplete removals change only the detail. The service works, so the check stays ok.
  if (unerased > 0) database.detail += `; ${countOf(unerased, "removed session")} not erased completely`;
  return {
    database,
    engine,
    browser: { ok: available, detail },
    sandbox: files.ok
      ? { ok: sandbox.kind === "none" || sandbox.canRunCommands, detail: sandbox.detail }
      : files,
    model: readModelHealth(),
  };
}

/** Records the start of the service in the security log, with the isolation that is in use. */
function recordStart({ env, securityLog, tooling }: Parts): void {
  securityLog.serviceStarted({
    sandbox: tooling.sandbox.describe().kind,
    isolation: describeIsolation(tooling),
    browser: tooling.browser.describe().detail,
    networkAllow: env.NETWORK_ALLOW.join(","),
  });
}

/** Composes the functions that Next's routes call. */
const mount = (env: Env, services: ApiServices, { live, player, builtinMcp }: Parts): Mounted => ({
  serve: (operations, request, params) => servePath(services, operations, request, params),
  upgradeToWebSocket: live.upgradeToWebSocket,
  serveEngine: player.serveEngine,
  serveMcp: builtinMcp.serve,
  pagesOrigin: env.PUBLIC_PAGES_ORIGIN,
  servePage: (request) => answerPageRequest({ env, pages: services.servedPages }, request),
  exchangeLinkForCookie: (request) =>
    exchangeLinkForCookie(services, {
      isInFrame: request.headers.get("sec-fetch-dest") === "iframe",
      method: request.method,
      url: new URL(request.url),
      cookieHeader: request.headers.get("cookie"),
      userAgent: request.headers.get("user-agent"),
      client: clientOf(request),
    }),
  serveAnswerPage: (request) => serveAnswerPage(services, request),
  logIn: (request) => serveOperation(services, logInOperation, logIn, request, {}),
  loadSessionPage: (...visit) => loadSessionPage(services, ...visit),
  loadReportPage: (...visit) => loadReportPage(services, ...visit),
  loadLivePage: (sessionId, cookie) => loadLivePage(services, sessionId, cookie),
  loadLandingPage: (cookie) => loadLandingPage(services, cookie),
});

/** Interrupts the running turns, which continue after the next start, and closes all parts. */
async function close(parts: Parts, isFinal: boolean): Promise<void> {
  const { player, live, access, control, builtinMcp, removals, tooling, mcp, schemas, fetch, post, storage } =
    parts;
  player.interrupt();
  await live.close();
  access.access.close();
  control.close();
  await player.stop();
  await parts.spending.close();
  builtinMcp.close();
  await removals.close();
  await Promise.all([tooling.close(isFinal), mcp.close()]);
  await parts.runners.sizes?.close();
  post.close();
  await Promise.all([schemas.close(), fetch.close()]);
  await storage.close();
  parts.securityLog.close();
}
