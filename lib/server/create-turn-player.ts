import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import { createApplyRetention } from "#inngest/functions/apply-retention.ts";
import { createDeliverCallback } from "#inngest/functions/deliver-callback.ts";
import { createRunTests } from "#inngest/functions/run-tests.ts";
import { createRunTurn } from "#inngest/functions/run-turn.ts";
import { createReapBrowsers, createSweepOutbox } from "#inngest/functions/sweeps.ts";
import { createClient, sendJob } from "#inngest/inngest-client.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import { attemptDelivery } from "#lib/callback/attempt-delivery.ts";
import { pruneFailingEndpoints } from "#lib/callback/callback-state-store.ts";
import { createEndpointPace } from "#lib/callback/endpoint/endpoint-pace.ts";
import { createHttpRefusal } from "#lib/callback/endpoint/refuse-http.ts";
import { resendLostDeliveries } from "#lib/callback/lost-delivery-store.ts";
import { standardSchedule } from "#lib/callback/retry-schedule.ts";
import type { SchemaChecker } from "#lib/deliverable/admission/create-schema-checker.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { GuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import { createJobSender, type JobSender } from "#lib/session/jobs/job-sender.ts";
import type { Job } from "#lib/session/jobs/jobs.ts";
import { LOST_AFTER_MS, RARELY_LOST_AFTER_MS, resendLostRuns } from "#lib/session/jobs/resend-lost-runs.ts";
import { createFreshRuns } from "#lib/session/run/fresh-runs.ts";
import { createTestRunService } from "#lib/test-runs/test-run-service.ts";
import type { TestRunsDeps } from "#lib/test-runs/test-runs-deps.ts";
import type { Tool } from "#lib/tools/tool.ts";
import { createStopRegistry, type StopRegistry } from "#lib/turn/run/stop-registry.ts";
import type { TurnDeps } from "#lib/turn/turn-deps.ts";
import { createTurnService } from "#lib/turn/turn-service.ts";
import type { Retention } from "./apply-retention.ts";
import { chooseEngine } from "./choose-engine.ts";
import { createServerlessSender } from "./create-serverless-sender.ts";
import type { Env } from "./env.ts";
import { followRuns } from "./follow-runs.ts";
import { followWaits } from "./follow-waits.ts";
import type { Storage } from "./open-storage.ts";
import { type Parts, runParts } from "./run-parts.ts";

type TurnPlayerDeps = Pick<TurnDeps, "model" | "spending" | "mcp" | "elicitations" | "cancelChildren"> & {
  env: Env;
  storage: Storage;
  logger: Logger;
  fetch: GuardedFetch;
  schemas: SchemaChecker;
  control: BrowserControl;
  tooling: {
    tools: readonly Tool[];
    evidence: EvidenceStore;
    firstLook: TurnDeps["firstLook"];
    planGate: TurnDeps["planGate"];
    skills: TurnDeps["skills"];
    browser: Pick<BrowserService, "reapIdle">;
    testRuns: TestRunsDeps;
  };
  isServerless: boolean;
  /** Removes old data; undefined if everything is kept. */
  retention: Retention | undefined;
  /** Other regular work. It runs with every sweep, after the jobs. */
  otherSweeps: Parts;
};

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
  const jobs = isServerless ? createServerlessSender(sender) : createJobSender(sender);
  const freshRuns = createFreshRuns();
  const waits = followWaits(
    { db, log: storage.log, jobs, logger, stopRun: (runId) => turn.stopRun(runId) },
    deps.control,
  );
  const localStops = createStopRegistry();
  const activeRuns = followRuns({
    db,
    bus,
    localStops,
    logger,
    sweepWaits: waits.sweep,
    resendLost: engine.mayLoseJobs ? () => resendLostJobs(LOST_AFTER_MS) : undefined,
  });
  const turn = createTurnService(
    { ...createTurnDeps(deps, jobs, activeRuns.stops), freshRuns },
    deps.schemas,
  );
  const tests = createTestRunService(deps.tooling.testRuns);
  const shutdown = new AbortController();
  const delivery = {
    db,
    fetch: deps.fetch,
    sealer: storage.sealer,
    logger,
    signal: shutdown.signal,
    schedule: { ...standardSchedule, baseMs: env.CALLBACK_RETRY_BASE_MS, factor: env.CALLBACK_RETRY_FACTOR },
    pace: createEndpointPace(env.RATE_LIMIT_CALLBACK),
    refuseHttp: createHttpRefusal(env.CALLBACK_HTTP, env.NETWORK_ALLOW),
    disableAfterMs: env.CALLBACK_DISABLE_AFTER_HOURS * 3_600_000,
  };
  const functions = [
    createRunTurn(client, {
      ...turn,
      play: (job) => activeRuns.trackPlay(job.runId, () => turn.play(job)),
    }),
    createRunTests(client, tests.play),
    createDeliverCallback(client, (due) => attemptDelivery(delivery, due)),
    createSweepOutbox(client, sweep),
    createReapBrowsers(client, () => deps.tooling.browser.reapIdle()),
    // Register the retention job only if some data expires. Otherwise it would run every hour without anything to do.
    ...(deps.retention ? [createApplyRetention(client, deps.retention)] : []),
  ];

  /**
   * Resends jobs of open runs if the engine has lost them. A server that loses jobs may also lose the functions, so the
   * functions are registered again.
   */
  async function resendLostJobs(lostAfterMs: number): Promise<void> {
    const lost = await resendLostRuns(db, lostAfterMs);
    if (lost.length === 0) return;
    logger.warn({ jobs: lost.map(({ id }) => id) }, "the engine lost jobs; they were resent");
    if (engine.mayLoseJobs)
      await engine
        .start(client, functions)
        .catch((error: unknown) =>
          logger.warn({ err: error }, "the functions could not be registered again"),
        );
    jobs.sendSoon(lost);
  }

  /**
   * Sends the jobs in the outbox, resends lost jobs, and does the other regular work.
   *
   * @returns the number of sent jobs and lost deliveries.
   * @throws Error if parts of the work failed. The other parts are done.
   */
  async function sweep(): Promise<number> {
    let sent = 0;
    await runParts(logger, {
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
      "test runs": async () => jobs.sendSoon(await tests.requeueLost()),
      waits: () => waits.sweep(),
      async outbox() {
        sent += await jobs.sweep();
      },
      ...deps.otherSweeps,
      "failing endpoints": () => pruneFailingEndpoints(db),
    });
    return sent;
  }

  return {
    turn,
    jobs,
    freshRuns,
    engine,
    stops: activeRuns.stops,
    waitForPlays: activeRuns.waitForPlays,
    serveEngine: engine.serve(client, functions),
    /** Starts to execute runs, and sends the jobs in the outbox immediately. */
    async start() {
      await engine.start(client, functions);
      await jobs.sweep({ ageMs: 0 });
    },
    /** Begins no more steps, and waits up to `graceMs` for those in progress: model calls, tool calls and test runs. */
    async drain(graceMs: number): Promise<void> {
      activeRuns.stops.drain();
      await Promise.race([
        Promise.all([engine.drain?.({ graceMs }), activeRuns.waitForPlays()]),
        setTimeout(graceMs, undefined, { ref: false }),
      ]);
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
      await engine.stop();
      waits.close();
      await activeRuns.close();
    },
  };
}

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
    planGate: tooling.planGate,
    skills: tooling.skills,
    tools: new Map(tooling.tools.map((tool) => [tool.name, tool])),
    settings: {
      maxSteps: env.AGENT_MAX_STEPS,
      retryBaseMs: env.AGENT_RETRY_BASE_MS,
      stretchMs: env.turnBudgetMs || Number.POSITIVE_INFINITY,
      demoUrl: `${env.ownOrigin}/demo`,
      baseUrl: env.baseUrl,
      pagesOrigin: env.pagesOrigin,
    },
  };
}
