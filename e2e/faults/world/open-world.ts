import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type RunningService, startService } from "#e2e/fixtures/service.ts";
import { monotonicMs, type RecordedLine } from "../recorder/log-line.ts";
import type { Recorder } from "../recorder/start-recorder.ts";
import { createClients } from "./create-clients.ts";
import { createPublisher } from "./create-publisher.ts";
import { findInFiles, readExecutions } from "./data-folder.ts";
import type { Evidence } from "./evidence.ts";
import type { Random } from "./random.ts";
import { isIdle, readAnswers, readStreams } from "./read-interface.ts";
import { isEngineBusy, type Rows, readRows } from "./read-rows.ts";
import { sampleStatus } from "./sample-status.ts";
import { watchProcesses } from "./watch-processes.ts";

export type World = Awaited<ReturnType<typeof openWorld>>;

const IDLE_MAX_MS = 180_000;
/** Longest time for a start of the service on a busy machine. */
const START_MAX_MS = 150_000;
const LEFT_MAX_MS = 30_000;
const SCHEDULE = { baseMs: 120, factor: 2 };
/** Longest time, including jitter, that the engine waits before it repeats a failed step. */
const REPEAT_MS = 1_250;
/** Longest time until a new process has found the expired lease of a killed executor and has finished its work. */
const TAKEOVER_MS = 30_000;
/** Time that a service with an embedded database gets to finish interrupted work, which it resumes when it starts. */
const RESUME_MS = 4_000;

/**
 * Opens the world of one run of a case: a service with its own data, clients of the service, and the evidence that is
 * recorded.
 */
export async function openWorld(place: {
  recorder: Recorder;
  random: Random;
  /** The URL of a new database; undefined for the embedded database. */
  databaseUrl?: string | undefined;
  /** Crashes the database server and starts it again; undefined if the campaign did not start the server. */
  restartDatabase?: (() => Promise<void>) | undefined;
}) {
  const { recorder, random, databaseUrl } = place;
  await recorder.takeLines();
  const dataDir = await mkdtemp(join(tmpdir(), "faults-data-"));
  const disturbedAtMs: number[] = [];
  const starts: { fromMs: number; toMs: number }[] = [];
  const outputs: string[] = [];
  const processes = watchProcesses();
  let variables: Record<string, string> = {};
  let repeatMs = 0;
  let endedAtMs = 0;
  let hasDiedInStart = false;
  let service: RunningService | undefined;

  const runningService = (): RunningService => {
    if (!service) throw new Error("the service does not run");
    return service;
  };
  const clients = createClients({ service: runningService, random, receiverUrl: recorder.receiverUrl });
  const { acknowledged, problems } = clients;
  const publisher = createPublisher({ service: runningService, random, acknowledged, problems });
  const sampler = sampleStatus(() => service, acknowledged);

  /**
   * Records the period of a start. The period ends when the service has served a page, because the page code is loaded
   * last.
   */
  function recordStart(started: RunningService) {
    const start = { fromMs: monotonicMs(), toMs: Number.POSITIVE_INFINITY };
    starts.push(start);
    const end = () => {
      start.toMs = monotonicMs();
    };
    started
      .call("GET", "/")
      .then((answer) => answer.arrayBuffer())
      .then(end, end);
  }

  const world = {
    ...clients,
    publisher,
    recorder,
    random,
    dataDir,
    databaseUrl,
    restartDatabase: place.restartDatabase,
    service: runningService,
    processes,
    /** Returns the environment variables of a service of this world. `fault` becomes the variable `FAULT`. */
    settings: (fault?: string): Record<string, string> => ({
      OPENAI_BASE_URL: recorder.modelUrl,
      SANDBOX: "unconfined",
      LOG_LEVEL: "info",
      CALLBACK_RETRY_BASE_MS: String(SCHEDULE.baseMs),
      CALLBACK_RETRY_FACTOR: String(SCHEDULE.factor),
      NODE_EXTRA_CA_CERTS: recorder.certificatePath,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl, DATABASE_DRIVER: "pg" }),
      ...(fault !== undefined && { FAULT: fault, FAULTS_ALLOWED: "1" }),
    }),
    /**
     * Starts the service on the data of this world. `fault` becomes the variable `FAULT`. `more` contains further
     * environment variables; later starts without `more` use the same ones.
     */
    async start(fault?: string, more?: Record<string, string>): Promise<RunningService> {
      variables = more ?? variables;
      const settings = { ...world.settings(fault), ...variables };
      try {
        service = await startOnFreePort(() =>
          startService(settings, { dataDir, startWithinMs: START_MAX_MS }),
        );
      } catch (error) {
        if (fault === undefined || !String(error).includes("ended with SIGKILL")) throw error;
        // Resumed work reached the fault point before the service was ready. Therefore, the service is started without
        // the fault, and `waitForDeath` kills it.
        hasDiedInStart = true;
        world.disturb();
        return world.start();
      }
      processes.follow(service.pid);
      recordStart(service);
      return service;
    },
    /** Ends the service with SIGTERM. */
    async stop() {
      processes.look();
      await runningService().stop();
      endedAtMs = Date.now();
      outputs.push(runningService().output());
    },
    /** Records that the campaign disturbs the service, its database or its browser now. */
    disturb: () => void disturbedAtMs.push(monotonicMs()),
    async kill() {
      processes.look();
      world.disturb();
      await runningService().kill();
      world.disturb();
    },
    /** Waits until the fault has killed the service. @returns false if the service still runs after `withinMs`. */
    async waitForDeath(withinMs: number): Promise<boolean> {
      if (hasDiedInStart) {
        hasDiedInStart = false;
        await world.kill();
        return true;
      }
      const end = Date.now() + withinMs;
      while (isAlive(runningService().pid)) {
        if (Date.now() > end) return false;
        await sleep(10);
      }
      world.disturb();
      return true;
    },
    /**
     * Starts the service again and repeats the requests that got no 2xx answer. `fault` becomes the variable `FAULT`.
     */
    async restart(fault?: string) {
      await world.settleDelayed();
      outputs.push(runningService().output());
      await world.start(fault);
      world.disturb();
      await world.retryUnanswered();
    },
    /** Records that this case makes steps of the engine fail, so that the engine repeats them later. */
    expectRepeats() {
      repeatMs = REPEAT_MS;
    },
    /**
     * Waits until no turn is open and no callback is pending. Records a problem if that takes more than `withinMs`
     * (default 180 s) or the service ends.
     */
    async waitUntilIdle(withinMs = IDLE_MAX_MS) {
      await world.settleDelayed();
      await world.retryUnanswered();
      const end = Date.now() + withinMs;
      for (const sessionId of new Set(acknowledged.map((one) => one.sessionId))) {
        for (;;) {
          if (await isIdle(runningService(), sessionId)) break;
          if (!isAlive(runningService().pid)) {
            problems.push("the service ended unexpectedly");
            return;
          }
          if (Date.now() > end) {
            problems.push(`${sessionId} was not idle after ${withinMs / 1_000} s`);
            return;
          }
          await sleep(50);
        }
      }
    },
    /** Collects the evidence from the API, the database, the files and the recorder. Stops the service. */
    async readEvidence(): Promise<Evidence> {
      await sampler.stop();
      const streams = await readStreams(runningService(), acknowledged, random);
      await publisher.read();
      const answers = [...clients.answers, ...(await readAnswers(runningService(), acknowledged))];
      await world.stop();
      const leftProcesses = await processes.waitForEnd(LEFT_MAX_MS);
      const rows = await readSettledRows();
      const leftLater = await processes.waitForEnd(LEFT_MAX_MS);
      leftProcesses.push(...leftLater.filter((one) => !leftProcesses.includes(one)));
      const lines = (await recorder.takeLines()).filter((line) => !publisher.isOfDeleted(line));
      const { canaries } = clients;
      return {
        rows,
        acknowledged,
        acknowledgedAnswers: clients.acknowledgedAnswers,
        publishing: publisher.record,
        streams,
        leftProcesses,
        disturbedAtMs,
        canaries,
        repeatMs,
        endedAtMs,
        starts,
        traffic: lines,
        samples: sampler.samples,
        schedule: SCHEDULE,
        waits: processes.waits,
        callbackSecrets: findSecrets(rows, clients.secretsByNonce),
        executions: await readExecutions(dataDir),
        haystacks: [
          ...answers,
          ...streams.map(({ text }) => ({ name: "an event stream", text })),
          { name: "the log of the service", text: outputs.join("") },
          { name: "what the service sent", text: readSent(lines) },
          { name: "the database", text: JSON.stringify(rows) },
          ...(await findInFiles(dataDir, canaries)),
        ],
      };
    },
    /** Returns the output of all processes of the service, in the order of their starts. */
    log: () => [...new Set([...outputs, service?.output() ?? ""])].join("\n--- the next process ---\n"),
    /** Kills the service if it still runs, and removes its data. */
    async close() {
      await sampler.stop();
      processes.stop();
      await service?.kill();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };

  /**
   * Reads the rows of a stopped service. If a killed process has left work of the engine unfinished, first starts the
   * service again, gives it time to finish the work, and stops it.
   */
  async function readSettledRows(): Promise<Rows> {
    const place = { dataDir, databaseUrl };
    const rows = await readRows(place);
    if ((disturbedAtMs.length === 0 && repeatMs === 0) || !isEngineBusy(rows)) return rows;
    await world.start();
    const end = Date.now() + TAKEOVER_MS;
    // The wait for an embedded database has a fixed length, because only the running service can read that database.
    if (databaseUrl === undefined) await sleep(RESUME_MS);
    else while (isEngineBusy(await readRows(place)) && Date.now() < end) await sleep(500);
    await world.stop();
    return readRows(place);
  }

  return world;
}

/** Starts a service. Tries again with another port if a process has taken the port that was chosen as free. */
async function startOnFreePort(start: () => Promise<RunningService>, triesLeft = 3): Promise<RunningService> {
  try {
    return await start();
  } catch (error) {
    if (triesLeft === 0 || !String(error).includes("EADDRINUSE")) throw error;
    return startOnFreePort(start, triesLeft - 1);
  }
}

/** Returns all bytes that the service sent to the recorder, as Latin-1 text. */
const readSent = (lines: RecordedLine[]): string =>
  lines
    .flatMap((line) =>
      line.type === "bytes" && line.from === "service"
        ? [Buffer.from(line.base64, "base64").toString("latin1")]
        : [],
    )
    .join("");

/** Returns the callback secrets by session id. */
const findSecrets = ({ sessions }: Rows, byNonce: ReadonlyMap<string, string>): Map<string, string> =>
  new Map(
    sessions.flatMap(({ id, idempotencyKey }) => {
      const secret = byNonce.get(idempotencyKey?.replace("key-", "") ?? "");
      return secret === undefined ? [] : [[id, secret] as const];
    }),
  );

function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
