import { sql } from "drizzle-orm";
import type { Logger } from "pino";
import { chooseDriver, type DatabaseDriver, type DatabaseOptions, openDatabase } from "#db/client.ts";
import { queryRows } from "#db/statement.ts";
import { createClient, sendJob } from "#inngest/client.ts";
import { createDeliverCallback } from "#inngest/functions/deliver-callback.ts";
import { createRunTurn } from "#inngest/functions/run-turn.ts";
import { createReapBrowsers, createSweepOutbox } from "#inngest/functions/sweeps.ts";
import { ACCESS_TOPIC, createAccessWatch } from "#lib/api/auth/access-watch.ts";
import { createAuthenticator } from "#lib/api/auth/authenticate.ts";
import { enterByLink } from "#lib/api/auth/entrance.ts";
import { createLoginGate } from "#lib/api/auth/login-gate.ts";
import { createBodyReader } from "#lib/api/http/body/body-reader.ts";
import { createLeasedRateLimiter } from "#lib/api/http/rates/leased-rate-limiter.ts";
import { createRateLimiter } from "#lib/api/http/rates/rate-limiter.ts";
import { deleteFullBuckets, leaseCalls } from "#lib/api/http/rates/rate-store.ts";
import { LOCAL_OWNER } from "#lib/api/http/serve-operation.ts";
import { servePath } from "#lib/api/http/serve-path.ts";
import { createLiveHub } from "#lib/api/live/live-hub.ts";
import { loadLivePage, loadSessionPage } from "#lib/api/next/load-session-page.ts";
import type { Mounted } from "#lib/api/next/mount.ts";
import { loadLandingPage } from "#lib/api/next/page-loaders.ts";
import { submitFromOverlay } from "#lib/api/operations/submit-from-overlay.ts";
import type { ApiServices } from "#lib/api/services.ts";
import { createBrowserControl } from "#lib/browser/view/browser-control.ts";
import { attemptDelivery } from "#lib/callback/attempt-delivery.ts";
import { resendLostDeliveries } from "#lib/callback/lost-delivery-store.ts";
import { standardSchedule } from "#lib/callback/retry-schedule.ts";
import { createSchemaChecker } from "#lib/deliverable/admission/create-schema-checker.ts";
import { openEventBus } from "#lib/events/bus/open-event-bus.ts";
import { openWords } from "#lib/events/bus/words.ts";
import { createEventLog } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { createKeyStore } from "#lib/keys/key-store.ts";
import { createBuiltinMcp } from "#lib/mcp-server/create-builtin-mcp.ts";
import { createModel } from "#lib/model/create-model.ts";
import { observeModel } from "#lib/model/observe-model.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createGuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import { deriveUserTokenKey } from "#lib/secrets/user-token.ts";
import { createElicitations } from "#lib/session/elicitation/elicitation.ts";
import { createJobSender } from "#lib/session/jobs/job-sender.ts";
import type { Job } from "#lib/session/jobs/jobs.ts";
import { LOST_AFTER_MS, RARELY_LOST_AFTER_MS, resendLostRuns } from "#lib/session/jobs/resend-lost-runs.ts";
import { createShareLinks } from "#lib/session/share/share-link.ts";
import { readShareStates } from "#lib/session/share/share-store.ts";
import { createStopRegistry } from "#lib/turn/run/stop-registry.ts";
import type { TurnDeps } from "#lib/turn/turn-deps.ts";
import { createTurnService } from "#lib/turn/turn-service.ts";
import { chooseEngine } from "./choose-engine.ts";
import { connectToolServers } from "./connect-tool-servers.ts";
import { createTooling } from "./create-tooling.ts";
import { explainByFolder, findFolderProblem, keepSecrets } from "./data-folder.ts";
import { type Env, EnvError } from "./env.ts";
import { followRemovals } from "./follow-removals.ts";
import { followRuns } from "./follow-runs.ts";
import { createWaitedSender } from "./job-departures.ts";
import { askSubAgentFlag } from "./sub-agent-flag.ts";

export type Container = Awaited<ReturnType<typeof createContainer>>;

/**
 * Builds the whole service from its settings: the one place that knows which implementation stands behind a port.
 *
 * @param options.isServerless whether it lives in functions of somebody else's platform, which keep nothing on disk and
 * may be frozen once they have answered; `requireServerless` has seen to the settings.
 * @throws Error with a sentence when a part cannot be had.
 */
export async function createContainer(env: Env, logger: Logger, { isServerless = false } = {}) {
  const kept = isServerless ? undefined : await keepSecrets(env.DATA_DIR);
  const encryptionKey = env.ENCRYPTION_KEY ?? kept?.encryptionKey;
  if (!encryptionKey) throw new EnvError("ENCRYPTION_KEY: is required");
  const driver = chooseDriver(env.DATABASE_URL, env.DATABASE_DRIVER);
  const database = await openDatabase(readDatabaseOptions(env, driver, logger)).catch(async (error) => {
    throw driver === "embedded" ? await explainByFolder(env.DATA_DIR, error) : error;
  });
  const { db } = database;
  const bus = await openEventBus(database, logger);
  const log = createEventLog(db, bus);
  const sealer = createSealer(encryptionKey);
  const userTokenKey = deriveUserTokenKey(encryptionKey);
  const rule = createAddressRule({ allow: env.NETWORK_ALLOW });
  const fetch = createGuardedFetch(rule);
  const schemas = createSchemaChecker();
  const { model, readHealth: readModelHealth } = observeModel(
    createModel({
      openaiApiKey: env.OPENAI_API_KEY,
      openaiBaseUrl: env.OPENAI_BASE_URL,
      gatewayApiKey: env.AI_GATEWAY_API_KEY,
      agentModel: env.AGENT_MODEL,
      api: env.AGENT_MODEL_API,
      contextTokens: env.AGENT_CONTEXT_TOKENS,
      demoOrigin: env.ownOrigin,
    }),
  );
  const elicitations = createElicitations({ db, log });
  const mcp = connectToolServers({
    ...{ env, db, sealer, rule, elicitations, tokenKey: userTokenKey },
    serveMcp: (request) => builtinMcp.serve(request),
  });
  const control = createBrowserControl(openWords(bus, "browser-control"));
  const tooling = await createTooling({
    control,
    ...{ env, db, log, logger, rule, fetch, elicitations, isServerless },
    owner: { name: database.name, isAlone: driver === "embedded" },
    handOver: openWords(bus, "browser-taken-over"),
    onAnnotation: (sessionId, body) => submitFromOverlay(services, sessionId, body),
  });

  const engine = chooseEngine(env, db, driver, logger, isServerless);
  const client = createClient(engine.clientOptions);
  const send = (job: Job) => sendJob(client, job);
  const jobs = isServerless
    ? createWaitedSender({ db, send, logger })
    : createJobSender({ db, send, logger });
  const followed = followRuns({
    ...{ db, bus, own: createStopRegistry(), logger },
    resendLost: engine.mayLoseJobs ? () => resendLostJobs(LOST_AFTER_MS) : undefined,
  });
  const { stops } = followed;
  const removals = followRemovals({
    ...{ db, bus, log, logger, stops, untilUnplayed: followed.untilUnplayed },
    ...{ browser: tooling.browser, sandbox: tooling.sandbox, live: () => live },
    dataDir: isServerless ? undefined : env.DATA_DIR,
  });
  const deps: TurnDeps = {
    db,
    log,
    jobs,
    model,
    stops,
    logger,
    mcp,
    elicitations,
    evidence: tooling.evidence,
    tools: new Map(tooling.tools.map((tool) => [tool.name, tool])),
    settings: {
      maxSteps: env.AGENT_MAX_STEPS,
      retryBaseMs: env.AGENT_RETRY_BASE_MS,
      stretchMs: env.turnBudgetMs || Number.POSITIVE_INFINITY,
      demoUrl: `${env.ownOrigin}/demo`,
    },
  };
  const turn = createTurnService(deps, schemas);
  const shutdown = new AbortController();
  const deliveryDeps = {
    db,
    fetch,
    sealer,
    logger,
    signal: shutdown.signal,
    schedule: {
      ...standardSchedule,
      baseMs: env.CALLBACK_RETRY_BASE_MS,
      factor: env.CALLBACK_RETRY_FACTOR,
    },
  };
  const functions = [
    createRunTurn(client, {
      ...turn,
      play: (job) => followed.whilePlayed(job.runId, () => turn.play(job)),
    }),
    createDeliverCallback(client, (delivery) => attemptDelivery(deliveryDeps, delivery)),
    createSweepOutbox(client, sweep),
    createReapBrowsers(client, () => tooling.browser.reapIdle(new Date())),
  ];

  const limits = {
    create: env.RATE_LIMIT_CREATE,
    poll: env.RATE_LIMIT_POLL,
    annotate: env.RATE_LIMIT_ANNOTATE,
    act: env.RATE_LIMIT_ACT,
  };
  // The embedded database belongs to this process alone.
  const rates =
    driver === "embedded"
      ? createRateLimiter(limits)
      : createLeasedRateLimiter(limits, {
          lease: (name, limit, slice) => leaseCalls(db, name, limit, slice),
          logger,
        });
  const keys = createKeyStore(db);
  const access = createAccessWatch({
    rows: {
      readKeys: keys.readExpiries,
      readShares: (sessionIds) => readShareStates(db, sessionIds, new Date()),
    },
    words: openWords(bus, ACCESS_TOPIC),
    logger,
  });
  const bodies = createBodyReader();
  const builtinMcp = createBuiltinMcp({
    ...{ db, log, fetch, logger, rates, bodies, keys, access, tools: tooling.tools, baseUrl: env.baseUrl },
    ...{ evidence: tooling.evidence, browser: tooling.browser, tokenKey: userTokenKey },
    words: {
      tell: (word) => bus.signal("mcp-cancelled", word),
      listen: (onWord) => bus.onSignal("mcp-cancelled", onWord),
    },
  });

  const services: ApiServices = {
    access,
    control,
    db,
    log,
    jobs,
    sealer,
    turn,
    elicitations,
    rule,
    schemas,
    logger,
    browser: tooling.browser,
    evidence: tooling.evidence,
    transcript: tooling.transcript,
    tools: tooling.tools,
    shares: createShareLinks(db, encryptionKey),
    login: createLoginGate(encryptionKey, env.baseUrl.startsWith("https:")),
    authenticate: createAuthenticator(readConfiguredKeys(env, kept?.apiKey), keys),
    rates,
    bodies,
    builtinMcp,
    queueChanged: (sessionId) => live.queueChanged(sessionId),
    removeSession: removals.remove,
    readSubAgentFlag: (userId) => askSubAgentFlag(env.SUBAGENT_WEB_FLAG_URL, userId, logger),
    async readiness() {
      const { available, detail } = tooling.browser.describe();
      const sandbox = tooling.sandbox.describe();
      const folderProblem = isServerless ? undefined : await findFolderProblem(env.DATA_DIR);
      const isEmbedded = driver === "embedded";
      return {
        database:
          isEmbedded && folderProblem
            ? { ok: false, detail: `DATA_DIR ${folderProblem}` }
            : await checkDatabase(),
        engine: { ok: engine.isHealthy(), detail: engine.label },
        browser: { ok: available, detail },
        sandbox: folderProblem
          ? { ok: false, detail: `DATA_DIR ${folderProblem}` }
          : { ok: sandbox.kind === "none" || sandbox.canRunCommands, detail: sandbox.detail },
        model: readModelHealth(),
      };
    },
    settings: {
      baseUrl: env.baseUrl,
      delegation: {
        maxLiveChildren: env.DELEGATION_MAX_LIVE_CHILDREN,
        maxLiveBrowsers: env.DELEGATION_MAX_LIVE_BROWSERS,
      },
      firstPartyOrigins: env.FIRST_PARTY_ORIGINS,
      model: { label: model.label, isDemo: model.isDemo },
    },
  };
  const live = createLiveHub({ ...services, words: (topic) => openWords(bus, topic) });

  /** Sends the jobs of open runs again that the engine has lost; a server that lost them may have lost the functions too. */
  async function resendLostJobs(lostAfterMs: number): Promise<void> {
    const lost = await resendLostRuns(db, lostAfterMs);
    if (lost.length === 0) return;
    logger.warn({ jobs: lost.map(({ id }) => id) }, "jobs that the engine lost are sent again");
    if (engine.mayLoseJobs)
      await engine
        .start(client, functions)
        .catch((error: unknown) =>
          logger.warn({ err: error }, "the functions could not be registered again"),
        );
    jobs.sendSoon(lost);
  }

  /** Sends the jobs left in the outbox, and those again that the engine has lost. @returns how many of the former. */
  async function sweep(): Promise<number> {
    // A platform's functions are frozen between two calls, so that every look comes after a gap.
    if ((await followed.renew()) || isServerless) await resendLostJobs(RARELY_LOST_AFTER_MS);
    const lost = await resendLostDeliveries(db);
    if (lost.length > 0)
      logger.warn({ jobs: lost.map(({ id }) => id) }, "callbacks whose jobs were lost are sent again");
    jobs.sendSoon(lost);
    await removals.sweep(new Date());
    await deleteFullBuckets(db);
    return lost.length + (await jobs.sweep());
  }

  async function checkDatabase() {
    try {
      const [row] = await queryRows<{ readOnly: string }>(
        db,
        sql`select current_setting('transaction_read_only') as "readOnly"`,
      );
      if (row?.readOnly === "on") return { ok: false, detail: `${driver} is read-only` };
      return { ok: true, detail: driver };
    } catch {
      return { ok: false, detail: `${driver} does not answer` };
    }
  }

  const mounted: Mounted = {
    serve: (operations, request, params) => servePath(services, operations, request, params),
    openLive: live.openLive,
    serveEngine: engine.serve(client, functions),
    serveMcp: builtinMcp.serve,
    enterByLink: (request) =>
      enterByLink(services, request.method, new URL(request.url), request.headers.get("cookie")),
    loadSessionPage: (sessionId, cookie) => loadSessionPage(services, sessionId, cookie),
    loadLivePage: (sessionId, cookie) => loadLivePage(services, sessionId, cookie),
    loadLandingPage: (cookie) => loadLandingPage(services, cookie),
  };

  return {
    mounted,
    services,
    enterByLink: (method: string, url: URL, cookie: string | null) =>
      enterByLink(services, method, url, cookie),
    sweepRemovals: removals.sweep,
    apiKey: env.SERVICE_API_KEYS.length === 0 ? kept?.apiKey : undefined,
    describe: () => ({
      model: model.label,
      database:
        driver === "embedded" ? `Postgres in ${env.DATA_DIR}` : driver === "neon" ? "Neon" : "Postgres",
      engine: engine.label,
      browser: tooling.browser.describe().detail,
      sandbox: tooling.sandbox.describe().detail,
    }),
    /** Takes up open runs and plays new ones, sending first what the outbox holds. */
    async start() {
      await engine.start(client, functions);
      removals
        .sweep(new Date())
        .catch((error: unknown) => logger.warn({ err: error }, "cleanup of deleted sessions failed"));
      await jobs.sweep({ ageMs: 0 });
    },
    /** Parks what plays at its step, and ends everything the service started. */
    async close() {
      stops.shutDown();
      shutdown.abort();
      await live.close();
      access.close();
      control.close();
      await engine.stop();
      followed.close();
      builtinMcp.close();
      await removals.close();
      await Promise.all([tooling.close(), mcp.close()]);
      await Promise.all([schemas.close(), fetch.close()]);
      await bus.close();
      await database.close();
    },
  };
}

function readDatabaseOptions(env: Env, driver: DatabaseDriver, logger: Logger): DatabaseOptions {
  // Only the fault campaign asks; `statement` is the point before each of them.
  const onStatement = env.FAULT?.point === "statement" ? () => void faultPoint("statement") : undefined;
  const onError = (error: Error) => logger.error({ err: error }, "a database connection was lost");
  if (driver === "embedded") {
    const onLost = (error: Error) => {
      logger.fatal(
        { err: error },
        "the embedded Postgres failed for good; the service ends, its next start resumes",
      );
      process.exit(1);
    };
    return { driver, dataDir: env.DATA_DIR, logger, onError, onLost, onStatement };
  }
  if (!env.DATABASE_URL) throw new Error(`DATABASE_URL: is required with DATABASE_DRIVER=${driver}`);
  const server = { url: env.DATABASE_URL, onError, onStatement };
  if (driver === "pg") return { driver, ...server };
  return { driver, ...server, ...(env.NEON_WSPROXY && { wsProxy: env.NEON_WSPROXY }) };
}

/** The keys of the settings; where there are none, the one the data folder keeps. */
function readConfiguredKeys(env: Env, generated: string | undefined) {
  if (env.SERVICE_API_KEYS.length > 0 || generated === undefined) return env.SERVICE_API_KEYS;
  return [{ key: generated, ownerId: LOCAL_OWNER }];
}
