import type { Logger } from "pino";
import { createApplyRetention } from "#inngest/functions/apply-retention.ts";
import { createDeliverCallback } from "#inngest/functions/deliver-callback.ts";
import { createMakeReceipts } from "#inngest/functions/make-receipts.ts";
import { createRunTests } from "#inngest/functions/run-tests.ts";
import { createRunTurn } from "#inngest/functions/run-turn.ts";
import { createSweep } from "#inngest/functions/sweep.ts";
import { createClient, sendJob } from "#inngest/inngest-client.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import { attemptDelivery } from "#lib/callback/attempt-delivery.ts";
import { pruneFailingEndpoints } from "#lib/callback/callback-state-store.ts";
import { createEndpointPace } from "#lib/callback/endpoint/endpoint-pace.ts";
import { sweepHeldDeliveries } from "#lib/callback/endpoint/held-delivery-store.ts";
import { createHttpRefusal } from "#lib/callback/endpoint/refuse-http.ts";
import { resendLostDeliveries } from "#lib/callback/lost-delivery-store.ts";
import { standardSchedule } from "#lib/callback/retry-schedule.ts";
import type { SchemaChecker } from "#lib/deliverable/admission/create-schema-checker.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { GuardedPost } from "#lib/net/fetch/guarded-post.ts";
import { createReceiptsService } from "#lib/receipts/make-receipts.ts";
import { createAnswerLinks } from "#lib/session/inbox/answer-link.ts";
import { createJobSender, type JobSender } from "#lib/session/jobs/job-sender.ts";
import { LOST_AFTER_MS, RARELY_LOST_AFTER_MS, resendLostRuns } from "#lib/session/jobs/resend-lost-runs.ts";
import { createFreshRuns } from "#lib/session/run/fresh-runs.ts";
import type { Job } from "#lib/session/store/jobs.ts";
import { createTestRunService } from "#lib/test-runs/test-run-service.ts";
import type { TestRunsDeps } from "#lib/test-runs/test-runs-deps.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { Tool } from "#lib/tools/tool.ts";
import type { PlayJob } from "#lib/turn/record/turn-store.ts";
import { createStopRegistry, type StopRegistry } from "#lib/turn/run/stop-registry.ts";
import type { TurnDeps } from "#lib/turn/run/turn-deps.ts";
import { createTurnService } from "#lib/turn/turn-service.ts";
import type { Retention } from "./apply-retention.ts";
import { chooseEngine } from "./choose-engine.ts";
import { createServerlessSender } from "./create-serverless-sender.ts";
import type { Env } from "./env.ts";
import { followRuns } from "./follow-runs.ts";
import { followWaits } from "./follow-waits.ts";
import type { Storage } from "./open-storage.ts";
import { repeat } from "./repeat.ts";
import { type Parts, runParts } from "./run-parts.ts";
import { createRequestSweep } from "./sweep-with-requests.ts";

const SWEEP_EVERY_MS = 60_000;

type TurnPlayerDeps = Pick<TurnDeps, "model" | "spending" | "mcp" | "elicitations" | "cancelChildren"> & {
  env: Env;
  storage: Storage;
  logger: Logger;
  post: GuardedPost;
  schemas: SchemaChecker;
  control: BrowserControl;
  tooling: {
    tools: readonly Tool[];
    evidence: EvidenceStore;
    firstLook: TurnDeps["firstLook"];
    planGate: TurnDeps["planGate"];
    skills: TurnDeps["skills"];
    browser: Pick<BrowserService, "reapIdle" | "settle" | "readControl">;
    testRuns: TestRunsDeps;
  };
  isServerless: boolean;
  /** Removes old data; undefined if everything is kept. */
  retention: Retention | undefined;
  /** Other regular work. It runs with every sweep, after the jobs. */
  otherSweeps: Parts;
};

/** The least time that one call of a serverless function follows a test run. */
const TESTS_BUDGET_MS_MIN = 30_000;

/**
 * Creates the durable engine and its functions: turns, test runs, callbacks, sweeps and the retention job. Also creates
 * the sender of the jobs that start these functions.
 */
export function createTurnPlayer(deps: TurnPlayerDeps) {
  const { env, storage, logger, isServerless } = deps;
  const { db, bus } = storage;
  const engine = chooseEngine({ env, db, logger, isServerless, owner: storage.owner });
  const client = createClient(engine.clientOptions);
  const sender = { db, send: (job: Job) => sendJob(client, job), intake: engine.intake, logger };
  const jobs = isServerless
    ? createServerlessSender(sender)
    : createJobSender({ ...sender, canSend: engine.isReachable });
  const freshRuns = createFreshRuns();
  const waits = followWaits(
    {
      db,
      log: storage.log,
      jobs,
      logger,
      stopRun: (runId) => turn.stopRun(runId),
      readControl: deps.tooling.browser.readControl,
    },
    deps.control,
  );
  const localStops = createStopRegistry();
  const activeRuns = followRuns({
    db,
    bus,
    localStops,
    logger,
    sweepWaits: waits.sweep,
    sweepJobs,
  });
  const turn = createTurnService(
    { ...createTurnDeps(deps, jobs, activeRuns.stops), freshRuns },
    deps.schemas,
  );
  /** Plays a run. A function may never run again after its answer, so it first writes what owners have spent. */
  const play = (job: PlayJob) =>
    isServerless ? turn.play(job).finally(deps.spending.flush) : turn.play(job);
  const tests = createTestRunService(
    deps.tooling.testRuns,
    isServerless ? Math.max(env.turnBudgetMs, TESTS_BUDGET_MS_MIN) : 0,
  );
  const receipts = createReceiptsService({ db, log: storage.log });
  const shutdown = new AbortController();
  const delivery = {
    db,
    post: deps.post,
    sealer: storage.sealer,
    logger,
    signal: shutdown.signal,
    schedule: { ...standardSchedule, baseMs: env.CALLBACK_RETRY_BASE_MS, factor: env.CALLBACK_RETRY_FACTOR },
    pace: createEndpointPace(env.RATE_LIMIT_CALLBACK),
    refuseHttp: createHttpRefusal(env.CALLBACK_HTTP, env.NETWORK_ALLOW),
    answers: createAnswerLinks(env.baseUrl, storage.encryptionKey, storage.previousKeys),
    disableAfterMs: env.CALLBACK_DISABLE_AFTER_HOURS * 3_600_000,
  };
  const functions = [
    createRunTurn(client, {
      ...turn,
      play: (job) => activeRuns.trackPlay(job.runId, () => play(job)),
    }),
    createRunTests(client, tests.play),
    createMakeReceipts(client, receipts.make),
    createDeliverCallback(client, (due) => attemptDelivery(delivery, due), engine.callbacksAtOnce),
    // A process of its own sweeps with a timer, because the engine's cron may be lost, and reaches one process only.
    ...(isServerless ? [createSweep(client, sweep)] : []),
    // Register the retention job only if some data expires. Otherwise it would run every hour without anything to do.
    ...(deps.retention ? [createApplyRetention(client, deps.retention)] : []),
  ];

  /** Resends jobs of open runs if the engine has lost them. */
  async function resendLostJobs(lostAfterMs: number): Promise<void> {
    const lost = await resendLostRuns(db, lostAfterMs);
    if (lost.length === 0) return;
    logger.warn({ jobs: lost.map(({ id }) => id) }, "the engine lost jobs; they were resent");
    // A server that loses jobs may also lose the functions.
    await engine.keepRegistered(true);
    jobs.sendSoon(lost);
  }

  /**
   * Sends the jobs in the outbox, and resends the jobs of open runs if the engine may have lost them. Without functions
   * the engine would drop the jobs, so it gets the functions first.
   */
  async function sweepJobs(areAgesTrusted: boolean): Promise<void> {
    await engine.keepRegistered();
    if (areAgesTrusted && engine.mayLoseJobs() && engine.isReachable()) await resendLostJobs(LOST_AFTER_MS);
    await jobs.sweep();
  }

  /**
   * Does all regular work: sends the jobs in the outbox, resends lost jobs, closes idle browsers, and more.
   *
   * @returns the number of sent jobs and lost deliveries.
   * @throws Error if parts of the work failed. The other parts are done.
   */
  async function sweep(): Promise<number> {
    let sent = 0;
    await runParts(logger, {
      engine: () => engine.keepRegistered(),
      async runs() {
        // Serverless functions are frozen between calls, so `renew` always returns false there. They resend lost jobs
        // anyway.
        if ((await activeRuns.renew()) || isServerless) await resendLostJobs(RARELY_LOST_AFTER_MS);
      },
      async callbacks() {
        const lost = await resendLostDeliveries(db);
        if (lost.length > 0)
          logger.warn({ jobs: lost.map(({ id }) => id) }, "jobs of callbacks were lost; they were resent");
        jobs.sendSoon(lost);
        sent += lost.length;
      },
      async "held callbacks"() {
        const { jobs: released, expired } = await sweepHeldDeliveries(db, delivery.disableAfterMs);
        if (released.length > 0) logger.info({ count: released.length }, "held callbacks were released");
        if (expired > 0) logger.warn({ count: expired }, "held callbacks were dropped after 7 days");
        jobs.sendSoon(released);
      },
      "test runs": async () => jobs.sendSoon(await tests.requeueLost()),
      receipts: async () => jobs.sendSoon(await receipts.requeueLost()),
      waits: () => waits.sweep(),
      async outbox() {
        sent += await jobs.sweep();
      },
      "sent jobs": () => jobs.prune(),
      browsers: () => deps.tooling.browser.reapIdle(),
      ...deps.otherSweeps,
      "failing endpoints": () => pruneFailingEndpoints(db),
    });
    return sent;
  }

  // `runParts` has logged the failures.
  const sweepQuietly = () => sweep().catch(() => {});
  let stopSweeping = async () => {};

  return {
    turn,
    jobs,
    freshRuns,
    engine,
    stops: activeRuns.stops,
    waitForPlays: activeRuns.waitForPlays,
    serveEngine: engine.serve(client, functions),
    sweep,
    /** For platforms without a process: does the work on jobs during a request, at most once a minute. */
    sweepWithRequest: createRequestSweep({
      everyMs: SWEEP_EVERY_MS,
      work: () => sweepJobs(true),
      logger,
    }),
    /** Starts to execute runs, sends the jobs in the outbox immediately, and begins the regular work. */
    async start() {
      await engine.start(client, functions);
      await jobs.sweep({ ageMs: 0 });
      stopSweeping = repeat(SWEEP_EVERY_MS, sweepQuietly);
    },
    /** Begins no more steps, and waits up to `graceMs` for those in progress: model calls, tool calls and test runs. */
    async drain(graceMs: number): Promise<void> {
      activeRuns.stops.drain();
      const drained = Promise.all([engine.drain?.({ graceMs }), activeRuns.waitForPlays()]);
      await createDeadline({ ms: graceMs }).race(drained, () => {});
    },
    /**
     * Interrupts the running turns and test runs, and aborts the callbacks that are being sent. The turns continue
     * after the next start.
     */
    interrupt() {
      activeRuns.stops.shutDown();
      tests.interrupt();
      shutdown.abort();
    },
    async stop() {
      await stopSweeping();
      await engine.stop();
      waits.close();
      await activeRuns.close();
    },
  };
}

/** The part of a function call in which the engine begins and ends its step, and the last step of a turn is recorded. */
const END_OF_CALL_MS = 10_000;

function createTurnDeps(
  deps: TurnPlayerDeps,
  jobs: JobSender,
  stops: StopRegistry,
): Omit<TurnDeps, "freshRuns"> {
  const { env, storage, logger, model, spending, mcp, elicitations, cancelChildren, control, tooling } = deps;
  return {
    db: storage.db,
    log: storage.log,
    jobs,
    stops,
    logger,
    model,
    spending,
    mcp,
    elicitations,
    cancelChildren,
    control,
    evidence: tooling.evidence,
    firstLook: tooling.firstLook,
    browser: tooling.browser,
    planGate: tooling.planGate,
    skills: tooling.skills,
    tools: new Map(tooling.tools.map((tool) => [tool.name, tool])),
    settings: {
      maxSteps: env.AGENT_MAX_STEPS,
      retryBaseMs: env.AGENT_RETRY_BASE_MS,
      playBudgetMs: env.turnBudgetMs || Number.POSITIVE_INFINITY,
      playLimitMs: env.turnLimitMs ? Math.max(0, env.turnLimitMs - END_OF_CALL_MS) : Number.POSITIVE_INFINITY,
      demoUrl: `${env.ownOrigin}/demo`,
      baseUrl: env.baseUrl,
      pagesOrigin: env.pagesOrigin,
      externalTurnExclude: env.EXTERNAL_TURN_EXCLUDE,
    },
  };
}
