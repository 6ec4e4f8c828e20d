import { startChild } from "../child.ts";
import type { Prompt } from "../model/main.ts";
import { playInFlight, playTurn, playTurns, startTurn } from "../play-turn.ts";
import { readCpuMs } from "../process-stats.ts";
import { repeat } from "../repeat.ts";
import { describeAgentServer, describeLoop, type Rig, startAgentServer } from "../rig.ts";
import { median, medianRatio } from "../statistics.ts";
import type { Subject } from "../subject.ts";
import type { Measurement, Row } from "../types.ts";
import { readRate } from "./requests.ts";

const WARM_UP = 25;
const PAIRS = 20;
const IN_FLIGHT = 16;
const ROUNDS = 3;

/**
 * Compares the service with two other servers. The minimal loop is like the AI SDK's first example, with one sentence
 * of instructions and one tool. It shows what the service's instructions and tools cost. The agent server makes the
 * same model calls as the service, but keeps everything in memory, like a server without durability.
 */
async function measureBaselines(rig: Rig): Promise<Row[]> {
  const loop = await startChild("./bare/main.ts", { BENCH_MODEL_URL: rig.modelUrl });
  const server = await startAgentServer(rig);
  try {
    await loop.ask(shorten(rig.prompt));
    const others = [describeLoop("minimal loop", loop), describeAgentServer(server)];
    const rows: Row[] = [];
    for (const other of others) {
      await playTurns(other, { tools: 1 }, WARM_UP, 2);
      rows.push(
        await compareTurns(rig.subject, other, 1),
        await compareTurns(rig.subject, other, 10),
        ...(await compareInFlight(rig.subject, other)),
      );
    }
    const [, agentServer] = others;
    if (agentServer) rows.push(await comparePolls(rig.subject, agentServer));
    return rows;
  } finally {
    await loop.stop();
    await server.stop();
  }
}

/** Returns a prompt with one sentence of instructions and one tool. */
function shorten({ tools }: Prompt): Prompt {
  const [tool] = tools.filter(({ name }) => name === "list_evidence");
  if (!tool) throw new Error("the service offers no list_evidence");
  return { instructions: "You are a helpful assistant.", tools: [tool] };
}

async function compareTurns(subject: Subject, other: Subject, tools: number): Promise<Row> {
  const pairs = await repeat({ rounds: PAIRS, secondsMax: 5 }, async () => {
    const service = await playTurn(subject, { tools });
    return [service.completedMs, (await playTurn(other, { tools })).completedMs] as const;
  });
  return {
    what: `created → completed, ${tools === 1 ? "1 tool call" : `${tools} tool calls`}, relative to the ${other.name}`,
    value: medianRatio(pairs),
    unit: "×",
    behind: {
      serviceMs: median(pairs.map(([mine]) => mine)),
      otherMs: median(pairs.map(([, theirs]) => theirs)),
    },
  };
}

async function compareInFlight(subject: Subject, other: Subject): Promise<Row[]> {
  const load = { inFlight: IN_FLIGHT, forMs: 1_500 };
  const measure = async (server: Subject) => {
    const [cpuFrom, startedAt] = [readCpuMs(server.pid), performance.now()];
    const perSecond = await playInFlight(server, { tools: 1 }, load);
    const turns = (perSecond * (performance.now() - startedAt)) / 1000;
    return { perSecond, cpuMs: (readCpuMs(server.pid) - cpuFrom) / turns };
  };
  const measured: (readonly [Awaited<ReturnType<typeof measure>>, Awaited<ReturnType<typeof measure>>])[] =
    [];
  for (let round = 0; round < ROUNDS; round++) measured.push([await measure(subject), await measure(other)]);
  const row = (what: string, read: (one: { perSecond: number; cpuMs: number }) => number): Row => ({
    what: `${what}, ${IN_FLIGHT} in flight, relative to the ${other.name}`,
    value: medianRatio(measured.map(([mine, theirs]) => [read(mine), read(theirs)] as const)),
    unit: "×",
    behind: {
      service: median(measured.map(([mine]) => read(mine))),
      other: median(measured.map(([, theirs]) => read(theirs))),
    },
  });
  return [row("turns per second", ({ perSecond }) => perSecond), row("CPU per turn", ({ cpuMs }) => cpuMs)];
}

async function comparePolls(subject: Subject, other: Subject): Promise<Row> {
  const urls = await Promise.all(
    [subject, other].map(async (each) => each.baseUrl + (await startTurn(each, { tools: 0 })).statusUrl),
  );
  const rates: [number, number][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [mine = 0, theirs = 0] = [
      await readRate(urls[0] ?? "", subject.headers),
      await readRate(urls[1] ?? "", other.headers),
    ];
    rates.push([mine, theirs]);
  }
  return {
    what: `status polls per second, relative to the ${other.name}`,
    value: medianRatio(rates),
    unit: "×",
    behind: {
      service: median(rates.map(([mine]) => mine)),
      other: median(rates.map(([, theirs]) => theirs)),
    },
  };
}

export const baselineMeasurement: Measurement = { name: "baselines", seconds: 60, measure: measureBaselines };
