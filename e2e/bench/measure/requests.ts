import { startChild } from "../child.ts";
import { callJson } from "../http.ts";
import { playTurn, startTurn } from "../play-turn.ts";
import { repeat } from "../repeat.ts";
import type { Rig } from "../rig.ts";
import { median, medianRatio } from "../statistics.ts";
import type { Measurement, Row } from "../types.ts";

const POLLERS = 8;

/** Status polls a second, beside the emptiest route that Next answers here: `/demo`, a redirect that reads nothing. */
async function measurePolling({ subject }: Rig): Promise<Row[]> {
  const { statusUrl } = await startTurn(subject, { tools: 0 });
  const rates: [number, number][] = [];
  for (let round = 0; round < 4; round++) {
    const polls = await readRate(subject.baseUrl + statusUrl, subject.headers);
    rates.push([polls, await readRate(`${subject.baseUrl}/demo`, {})]);
  }
  return [
    {
      ...{
        what: "status polls per second, beside an empty Next route",
        value: medianRatio(rates),
        unit: "×",
      },
      target: { atLeast: 0.8 },
      behind: {
        pollsPerSecond: median(rates.map(([polls]) => polls)),
        emptyRoutesPerSecond: median(rates.map(([, empty]) => empty)),
      },
    },
  ];
}

async function readRate(url: string, headers: Record<string, string>): Promise<number> {
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

/** Creation over HTTP beside a plain server that writes the same rows in one transaction of the same database. */
async function measureCreation({ subject, variables }: Rig): Promise<Row[]> {
  const insert = await startChild("./bare/insert.ts", {
    ...(variables.DATABASE_URL !== undefined && { BENCH_DATABASE: variables.DATABASE_URL }),
  });
  try {
    const insertUrl = `http://127.0.0.1:${insert.ready.port}/`;
    const measurePair = async () => {
      const { createdMs } = await playTurn(subject, { tools: 0 });
      const startedAt = performance.now();
      await callJson("POST", insertUrl, {}, {});
      return [createdMs, performance.now() - startedAt] as const;
    };
    await repeat({ rounds: 20, secondsMax: 3 }, measurePair);
    const measured = await repeat({ rounds: 40, secondsMax: 6 }, measurePair);
    return [
      {
        ...{
          what: "POST /api/session beside an insert of the same rows",
          value: medianRatio(measured),
          unit: "×",
        },
        behind: {
          createMs: median(measured.map(([create]) => create)),
          insertMs: median(measured.map(([, bare]) => bare)),
        },
      },
    ];
  } finally {
    await insert.stop();
  }
}

export const requestMeasurements: Measurement[] = [
  { name: "polling", seconds: 9, measure: measurePolling },
  { name: "create", seconds: 8, measure: measureCreation },
];
