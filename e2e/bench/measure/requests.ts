import { startChild } from "../child.ts";
import { callJson } from "../http.ts";
import { playTurn, startTurn } from "../play-turn.ts";
import { repeat } from "../repeat.ts";
import type { Rig } from "../rig.ts";
import { median, medianRatio, quantile } from "../statistics.ts";
import type { Measurement, Row } from "../types.ts";

const POLLERS = 8;

/** Measures status polls per second, relative to the cheapest Next route: `/demo` only redirects. */
async function measurePolling({ subject }: Rig): Promise<Row[]> {
  const { statusUrl } = await startTurn(subject, { tools: 0 });
  const rates: [number, number][] = [];
  for (let round = 0; round < 4; round++) {
    const polls = await readRate(subject.baseUrl + statusUrl, subject.headers);
    rates.push([polls, await readRate(`${subject.baseUrl}/demo`, {})]);
  }
  return [
    {
      what: "status polls per second vs an empty Next route",
      value: medianRatio(rates),
      unit: "×",
      target: { atLeast: 0.8 },
      behind: {
        pollsPerSecond: median(rates.map(([polls]) => polls)),
        emptyRoutesPerSecond: median(rates.map(([, empty]) => empty)),
      },
    },
  ];
}

/** Measures how many requests a server answers per second. For one second, eight requests are open at a time. */
export async function readRate(url: string, headers: Record<string, string>): Promise<number> {
  const startedAt = performance.now();
  let answered = 0;
  const poll = async () => {
    while (performance.now() - startedAt < 1_000) {
      await callJson("GET", url, headers);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: POLLERS }, poll));
  return (answered * 1000) / (performance.now() - startedAt);
}

const CREATORS = 8;
const CREATIONS = 160;

/**
 * Measures how fast sessions are created over HTTP, relative to a plain server that inserts the same rows in one
 * transaction.
 */
async function measureCreation({ subject, variables }: Rig): Promise<Row[]> {
  const insert = await startChild("./bare/insert.ts", {
    ...(variables.DATABASE_URL !== undefined && { BENCH_DATABASE: variables.DATABASE_URL }),
  });
  try {
    const insertUrl = `http://127.0.0.1:${insert.ready.port}/`;
    const createOne = () => startTurn(subject, { tools: 0 });
    const insertOne = () => callJson("POST", insertUrl, {}, {});
    const createPair = async () => {
      const { createdMs } = await playTurn(subject, { tools: 0 });
      return [createdMs, await timeOf(insertOne)] as const;
    };
    await repeat({ rounds: 20, secondsMax: 3 }, createPair);
    const single = await repeat({ rounds: 40, secondsMax: 6 }, createPair);
    const create = await burst(createOne);
    const bare = await burst(insertOne);
    return [
      compare("POST /api/session vs an insert of the same rows", single),
      compare("POST /api/session per second, 8 at a time vs inserts of the same rows", [
        [create.perSecond, bare.perSecond],
      ]),
      compare("POST /api/session, 8 at a time: p50", [[create.p50Ms, bare.p50Ms]]),
      compare("POST /api/session, 8 at a time: p95", [[create.p95Ms, bare.p95Ms]]),
    ];
  } finally {
    await insert.stop();
  }
}

const compare = (what: string, pairs: readonly (readonly [number, number])[]): Row => ({
  what,
  value: medianRatio(pairs),
  unit: "×",
  behind: {
    service: median(pairs.map(([service]) => service)),
    bare: median(pairs.map(([, bare]) => bare)),
  },
});

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/**
 * Sends a fixed number of requests, eight at a time. @returns how many were answered per second, and the response
 * times.
 */
async function burst(work: () => Promise<unknown>) {
  const times: number[] = [];
  let left = CREATIONS;
  const startedAt = performance.now();
  const creator = async () => {
    while (left-- > 0) times.push(await timeOf(work));
  };
  await Promise.all(Array.from({ length: CREATORS }, creator));
  return {
    perSecond: (CREATIONS * 1000) / (performance.now() - startedAt),
    p50Ms: median(times),
    p95Ms: quantile(times, 0.95),
  };
}

export const requestMeasurements: Measurement[] = [
  { name: "polling", seconds: 9, measure: measurePolling },
  { name: "create", seconds: 12, measure: measureCreation },
];
