import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type RunningService, startService } from "#e2e/fixtures/service.ts";
import { monotonicMs, type OracleLine } from "../oracle/log-line.ts";
import type { Oracle } from "../oracle/start-oracle.ts";
import { createClients } from "./create-clients.ts";
import { createPublisher } from "./create-publisher.ts";
import { findInFiles, readExecutions } from "./data-folder.ts";
import type { Evidence } from "./evidence.ts";
import type { Random } from "./random.ts";
import { isQuiet, readAnswers, readStreams } from "./read-interface.ts";
import { isEngineBusy, type Rows, readRows } from "./read-rows.ts";
import { sampleStatus } from "./sample-status.ts";
import { watchProcesses } from "./watch-processes.ts";

export type World = Awaited<ReturnType<typeof openWorld>>;

const QUIET_MAX_MS = 180_000;
/** Others may be busy on this machine, too. */
const START_MAX_MS = 150_000;
const LEFT_MAX_MS = 30_000;
const SCHEDULE = { baseMs: 120, factor: 2 };
/** The engine's wait before a step that failed is made again, with the spread that chance gives it. */
const REPEAT_MS = 1_250;
/** What a killed executor played is another's when its lease has run out and somebody has looked. */
const TAKEN_OVER_MS = 30_000;
const TAKEN_UP_AT_ONCE_MS = 4_000;

/** One service with its data, seen by clients that never give up: what a case of the campaign is played in. */
export async function openWorld(place: {
  oracle: Oracle;
  random: Random;
  /** A fresh database, where it is not the embedded one. */
  databaseUrl?: string | undefined;
  /** Ends the database server and starts it again, where the campaign has one of its own. */
  restartDatabase?: (() => Promise<void>) | undefined;
}) {
  const { oracle, random, databaseUrl } = place;
  await oracle.takeLines();
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

  const running = (): RunningService => {
    if (!service) throw new Error("the service does not run");
    return service;
  };
  const clients = createClients({ service: running, random, receiverUrl: oracle.receiverUrl });
  const { acknowledged, problems } = clients;
  const publisher = createPublisher({ service: running, random, acknowledged, problems });
  const sampler = sampleStatus(() => service, acknowledged);

  /** A process answers before the code of its pages is loaded; the first page comes when it is. */
  function noteStart(started: RunningService) {
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
    oracle,
    random,
    dataDir,
    databaseUrl,
    restartDatabase: place.restartDatabase,
    service: running,
    processes,
    /** The settings of a service of this world. */
    settings: (fault?: string): Record<string, string> => ({
      OPENAI_BASE_URL: oracle.modelUrl,
      SANDBOX: "unconfined",
      LOG_LEVEL: "info",
      CALLBACK_RETRY_BASE_MS: String(SCHEDULE.baseMs),
      CALLBACK_RETRY_FACTOR: String(SCHEDULE.factor),
      NODE_EXTRA_CA_CERTS: oracle.certificatePath,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl, DATABASE_DRIVER: "pg" }),
      ...(fault !== undefined && { FAULT: fault, FAULTS_ALLOWED: "1" }),
    }),
    /** Starts the service on this world's data; `fault` is what it will do to itself, `more` its settings from now on. */
    async start(fault?: string, more?: Record<string, string>): Promise<RunningService> {
      variables = more ?? variables;
      const settings = { ...world.settings(fault), ...variables };
      try {
        service = await startOnFreePort(() =>
          startService(settings, { dataDir, startWithinMs: START_MAX_MS }),
        );
      } catch (error) {
        if (fault === undefined || !String(error).includes("ended with SIGKILL")) throw error;
        // What it took up again brought it to the point before it was ready: a kill is played with what comes next.
        hasDiedInStart = true;
        world.disturb();
        return world.start();
      }
      processes.follow(service.pid);
      noteStart(service);
      return service;
    },
    /** Ends the service as its owner would. */
    async stop() {
      processes.look();
      await running().stop();
      endedAtMs = Date.now();
      outputs.push(running().output());
    },
    /** Notes that something was done to the service now, or to what it works with. */
    disturb: () => void disturbedAtMs.push(monotonicMs()),
    async kill() {
      processes.look();
      world.disturb();
      await running().kill();
      world.disturb();
    },
    /** Waits until the service has ended by itself. @returns false when it has not within `withinMs`. */
    async died(withinMs: number): Promise<boolean> {
      if (hasDiedInStart) {
        hasDiedInStart = false;
        await world.kill();
        return true;
      }
      const end = Date.now() + withinMs;
      while (isAlive(running().pid)) {
        if (Date.now() > end) return false;
        await sleep(10);
      }
      world.disturb();
      return true;
    },
    /** Starts the service again, and asks again what was not answered; `fault` is what it will do to itself now. */
    async restart(fault?: string) {
      await world.settleBeside();
      outputs.push(running().output());
      await world.start(fault);
      world.disturb();
      await world.askAgain();
    },
    /** Notes that steps of the engine are made to fail, so that it makes them again. */
    expectRepeats() {
      repeatMs = REPEAT_MS;
    },
    /** Waits until no turn is open and no callback is on its way, at most 180 s. */
    async quiet() {
      await world.settleBeside();
      await world.askAgain();
      const end = Date.now() + QUIET_MAX_MS;
      for (const sessionId of new Set(acknowledged.map((one) => one.sessionId))) {
        for (;;) {
          if (await isQuiet(running(), sessionId)) break;
          if (!isAlive(running().pid)) {
            problems.push("the service has ended by itself");
            return;
          }
          if (Date.now() > end) {
            problems.push(`${sessionId} was not quiet after ${QUIET_MAX_MS / 1_000} s`);
            return;
          }
          await sleep(50);
        }
      }
    },
    /** Ends the world; everything it left is read. */
    async readEvidence(): Promise<Evidence> {
      await sampler.stop();
      const streams = await readStreams(running(), acknowledged, random);
      await publisher.read();
      const answers = [...clients.answers, ...(await readAnswers(running(), acknowledged))];
      await world.stop();
      const left = await processes.waitForEnd(LEFT_MAX_MS);
      const rows = await readSettledRows();
      left.push(...(await processes.waitForEnd(LEFT_MAX_MS)).filter((one) => !left.includes(one)));
      const lines = (await oracle.takeLines()).filter((line) => !publisher.isOfDeleted(line));
      const { canaries } = clients;
      return {
        rows,
        acknowledged,
        taken: clients.taken,
        publishing: publisher.record,
        streams,
        left,
        disturbedAtMs,
        canaries,
        repeatMs,
        endedAtMs,
        starts,
        oracle: lines,
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
    /** What the services of this world wrote, one after the other. */
    log: () => [...new Set([...outputs, service?.output() ?? ""])].join("\n--- the next process ---\n"),
    /** Ends what is left and removes the data. */
    async close() {
      await sampler.stop();
      processes.stop();
      await service?.kill();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };

  /**
   * The rows of a service that has ended. Where a process was killed, the engine may not know yet that what it played is
   * over: another one takes it up when the lease has run out, and is given the time for that.
   */
  async function readSettledRows(): Promise<Rows> {
    const place = { dataDir, databaseUrl };
    const rows = await readRows(place);
    if ((disturbedAtMs.length === 0 && repeatMs === 0) || !isEngineBusy(rows)) return rows;
    await world.start();
    const end = Date.now() + TAKEN_OVER_MS;
    // An embedded database cannot be looked into beside its owner, who takes up everything at once.
    if (databaseUrl === undefined) await sleep(TAKEN_UP_AT_ONCE_MS);
    else while (isEngineBusy(await readRows(place)) && Date.now() < end) await sleep(500);
    await world.stop();
    return readRows(place);
  }

  return world;
}

/** Between the choice of a free port and its use, somebody else on this machine may take it. */
async function startOnFreePort(start: () => Promise<RunningService>, triesLeft = 3): Promise<RunningService> {
  try {
    return await start();
  } catch (error) {
    if (triesLeft === 0 || !String(error).includes("EADDRINUSE")) throw error;
    return startOnFreePort(start, triesLeft - 1);
  }
}

/** Everything that a service sent to the oracle. */
const readSent = (lines: OracleLine[]): string =>
  lines
    .flatMap((line) =>
      line.type === "bytes" && line.from === "service"
        ? [Buffer.from(line.base64, "base64").toString("latin1")]
        : [],
    )
    .join("");

/** The callback secrets of sessions, by their ids. */
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
