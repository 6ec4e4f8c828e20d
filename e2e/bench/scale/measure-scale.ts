import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { type RunningService, startService } from "../../fixtures/service.ts";
import { startChild } from "../child.ts";
import { callJson, followStream } from "../http.ts";
import { measureBrowsers } from "../measure/browsers.ts";
import { parkTurns } from "../park-turn.ts";
import { playInFlight, playTurn, playTurns, startTurn } from "../play-turn.ts";
import { listMemoryMb, readCpuMs, readTreeCpuMs } from "../process-stats.ts";
import { describeService } from "../rig.ts";
import { median, quantile } from "../statistics.ts";
import type { Subject } from "../subject.ts";
import type { Row } from "../types.ts";
import { fillDatabase, readDatabaseBytes, readServerCounters } from "./fill-database.ts";

const STORED = 10_000;
const OPEN = 1_000;
const VIEWERS = 5;
const IN_FLIGHT = 200;
const ROUNDS = 60;
/** A turn that takes about 5 s, as with a real model. */
const SLOW = { tools: 1, chunks: 20, chunkDelayMs: 250 };

type Say = (text: string) => void;

/**
 * Measures how the service scales: latencies under a full load relative to an empty service, and the CPU time of a turn
 * with two processes relative to one process. The full load is 10,000 stored sessions, 1,000 open sessions with 5
 * viewers each, and 200 turns in flight. Also measures the cost of a turn, the memory of a browser, the memory of the
 * open sessions, and the disk space of a stored session.
 */
export async function measureScale(say: Say): Promise<Row[]> {
  const postgres = await startTestPostgres({ isDurable: true });
  const model = await startChild("./model/main.ts");
  const variables = {
    OPENAI_BASE_URL: `http://127.0.0.1:${model.ready.port}/v1`,
    DATABASE_URL: postgres.url,
    ENCRYPTION_KEY: randomBytes(32).toString("base64"),
  };
  const services: RunningService[] = [];
  const viewers = new AbortController();
  try {
    say("Starting the service on a Postgres server …");
    const first = await startService(variables);
    services.push(first);
    const subject = describeService(first);
    await playTurns(subject, { tools: 1 }, 100, 8);
    const rows = [
      ...(await measureProcesses(say, first, services, variables)),
      ...(await measureUnitCosts(say, subject, postgres.url)),
      ...(await measureBrowsers(subject)),
    ];

    say("Reading latencies of an empty service …");
    const template = await startTurn(subject, { tools: 1 });
    await playTurn(subject, { tools: 1 });
    const few = await readLatencies(subject, template.sessionId, template.streamUrl);

    say(`Storing ${STORED} sessions of 100 events …`);
    const bytesBefore = await readDatabaseBytes(postgres.url);
    const filled = await fillDatabase(postgres.url, { sessionId: template.sessionId, count: STORED });
    const bytes = (await readDatabaseBytes(postgres.url)) - bytesBefore;
    const stored = await readLatencies(subject, filled[0] ?? "", template.streamUrl);

    say(`Opening ${OPEN} sessions with ${VIEWERS} viewers each …`);
    const memoryBefore = listMemoryMb(first.pid ?? 0).serviceMb ?? 0;
    for (const path of await parkTurns(first, OPEN, 16))
      for (let viewer = 0; viewer < VIEWERS; viewer++)
        watch(first.baseUrl + path, subject.headers, viewers.signal);
    await sleep(12_000);
    const memoryAfter = listMemoryMb(first.pid ?? 0).serviceMb ?? 0;
    const watched = await readLatencies(subject, filled[0] ?? "", template.streamUrl);

    say(`Playing ${IN_FLIGHT} turns at once …`);
    const load = playInFlight(subject, SLOW, { inFlight: IN_FLIGHT, forMs: 10_000 });
    await sleep(3_000);
    const loaded = await readLatencies(subject, filled[0] ?? "", template.streamUrl);
    const turnsPerSecond = await load;

    const compare = (what: string, read: (latencies: Latencies) => number): Row => ({
      what: `${what}, under the full load relative to an empty service`,
      unit: "×",
      value: read(loaded) / read(few),
      behind: {
        emptyMs: read(few),
        storedMs: read(stored),
        watchedMs: read(watched),
        loadedMs: read(loaded),
      },
    });
    return [
      ...rows,
      compare("list of sessions", ({ listMs }) => listMs),
      compare("session", ({ sessionMs }) => sessionMs),
      compare("stream until its first event", ({ streamMs }) => streamMs),
      compare("delivery lag (p95), 1 follower", ({ lagMs }) => lagMs),
      {
        what: `memory of the service for ${OPEN} open sessions with ${VIEWERS} viewers each`,
        unit: "MB",
        value: memoryAfter - memoryBefore,
        behind: { perViewerKb: ((memoryAfter - memoryBefore) * 1024) / (OPEN * VIEWERS), turnsPerSecond },
      },
      {
        what: "database for each stored session of 100 events",
        unit: "MB",
        value: bytes / STORED / 1024 / 1024,
        behind: { bytes: bytes / STORED },
      },
    ];
  } finally {
    viewers.abort();
    for (const service of services) await service.close();
    await model.stop();
    await postgres.stop();
  }
}

/**
 * Measures the CPU time of a turn with two service processes on one database, relative to one process, and relative to
 * two processes that have a database each. The second comparison shows what sharing costs: on a machine with few cores,
 * two processes that share nothing slow each other down, too.
 */
async function measureProcesses(
  say: Say,
  first: RunningService,
  services: RunningService[],
  variables: Record<string, string> & { DATABASE_URL: string },
): Promise<Row[]> {
  say("Playing turns with one process and with two …");
  const second = await startService(variables);
  services.push(second);
  const DATABASE_URL = await createDatabase(variables.DATABASE_URL, "separate");
  const third = await startService({ ...variables, DATABASE_URL });
  services.push(third);
  const all = [first, second, third].map(describeService);
  const [one, sharing, separate] = all as [Subject, Subject, Subject];
  for (const each of all) await playTurns(each, { tools: 1 }, 200, 8);
  const measure = async (used: Subject[]) => {
    const cpuFrom = used.map(({ pid }) => readCpuMs(pid));
    const startedAt = performance.now();
    const rates = await Promise.all(
      used.map((each) => playInFlight(each, { tools: 1 }, { inFlight: 16 / used.length, forMs: 4_000 })),
    );
    const turns = (rates.reduce((total, rate) => total + rate, 0) * (performance.now() - startedAt)) / 1000;
    const cpuMs = used.reduce((total, { pid }, index) => total + readCpuMs(pid) - (cpuFrom[index] ?? 0), 0);
    return cpuMs / turns;
  };
  const rounds: { oneMs: number; sharedMs: number; separateMs: number }[] = [];
  for (let round = 0; round < 5; round++)
    rounds.push({
      sharedMs: await measure([one, sharing]),
      oneMs: await measure([one]),
      separateMs: await measure([one, separate]),
    });
  for (const service of [second, third]) await service.stop();
  const behind = {
    oneMs: median(rounds.map(({ oneMs }) => oneMs)),
    sharedMs: median(rounds.map(({ sharedMs }) => sharedMs)),
    separateMs: median(rounds.map(({ separateMs }) => separateMs)),
  };
  return [
    {
      what: "CPU of a turn with two processes on one Postgres, relative to one process",
      unit: "×",
      value: median(rounds.map(({ sharedMs, oneMs }) => sharedMs / oneMs)),
      target: { atMost: 1.15 },
      behind,
    },
    {
      what: "the same, relative to two processes with a database each",
      unit: "×",
      value: median(rounds.map(({ sharedMs, separateMs }) => sharedMs / separateMs)),
      target: { atMost: 1.15 },
      behind,
    },
  ];
}

/**
 * Measures the cost of a turn with one tool call, and how many such turns one process plays per second with 16 in
 * flight.
 */
async function measureUnitCosts(say: Say, subject: Subject, url: string): Promise<Row[]> {
  say("Measuring the cost of a turn …");
  const before = await readServerCounters(url);
  const databaseFrom = readTreeCpuMs(before.postmasterPid);
  const serviceFrom = readCpuMs(subject.pid);
  const startedAt = performance.now();
  const perSecond = await playInFlight(subject, { tools: 1 }, { inFlight: 16, forMs: 8_000 });
  const turns = (perSecond * (performance.now() - startedAt)) / 1000;
  const serviceMs = (readCpuMs(subject.pid) - serviceFrom) / turns;
  const databaseMs = (readTreeCpuMs(before.postmasterPid) - databaseFrom) / turns;
  const walBytes = (await readServerCounters(url)).walBytes - before.walBytes;
  return [
    { what: "CPU of the service per turn", unit: "ms", value: serviceMs, behind: {} },
    { what: "CPU of Postgres per turn", unit: "ms", value: databaseMs, behind: {} },
    { what: "write-ahead log per turn", unit: "kB", value: walBytes / turns / 1024, behind: {} },
    { what: "turns per second of one process", unit: "turns/s", value: perSecond, behind: {} },
  ];
}

type Latencies = { listMs: number; sessionMs: number; streamMs: number; lagMs: number };

async function readLatencies(subject: Subject, sessionId: string, streamUrl: string): Promise<Latencies> {
  const { baseUrl, headers } = subject;
  const timesOf = async (work: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const from = performance.now();
      await work();
      times.push(performance.now() - from);
    }
    return median(times);
  };
  return {
    listMs: await timesOf(() => callJson("GET", `${baseUrl}/api/sessions?limit=20`, headers)),
    sessionMs: await timesOf(() => callJson("GET", `${baseUrl}/api/sessions/${sessionId}`, headers)),
    streamMs: await timesOf(() => followStream(baseUrl + streamUrl, headers, () => {})),
    lagMs: await readLag(subject),
  };
}

/** Measures the delay with which events of a turn reach a follower. @returns the 95th percentile in milliseconds. */
async function readLag(subject: Subject): Promise<number> {
  const { streamUrl } = await startTurn(subject, { tools: 0, chunks: 60, chunkDelayMs: 25 });
  const lags: number[] = [];
  await followStream(subject.baseUrl + streamUrl, subject.headers, (text, atMs) => {
    for (const [, stamp = ""] of text.matchAll(/"timestamp":"([^"]+)"/g))
      lags.push(performance.timeOrigin + atMs - Date.parse(stamp));
  });
  // The first three events are skipped, because they occurred before the stream was open and were replayed later.
  return quantile(lags.slice(3), 0.95);
}

/** Reads a stream and discards its content. */
function watch(url: string, headers: Record<string, string>, signal: AbortSignal): void {
  fetch(url, { headers, signal })
    .then(async (answer) => {
      for await (const _ of answer.body ?? []) if (signal.aborted) return;
    })
    .catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
}
