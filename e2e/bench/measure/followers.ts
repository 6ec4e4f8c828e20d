import { followStream } from "../http.ts";
import { startTurn, type Task } from "../play-turn.ts";
import { readMemoryMb } from "../process-stats.ts";
import type { Rig } from "../rig.ts";
import { median, quantile } from "../statistics.ts";
import type { Subject } from "../subject.ts";
import type { Measurement, Row } from "../types.ts";

const TASK = { tools: 3, chunks: 30, chunkDelayMs: 25 };

/**
 * Measures the delay with which events reach 200 followers of one run, and a single follower. The service and the bare
 * loop (the baseline) are measured alternately.
 */
async function measureFollowers({ subject, baseline }: Rig): Promise<Row[]> {
  const rounds: Record<"many" | "one", [number, number][]> = { many: [], one: [] };
  for (let round = 0; round < 3; round++) {
    rounds.many.push([await readLag(subject, 200), await readLag(baseline, 200)]);
    rounds.one.push([await readLag(subject, 1), await readLag(baseline, 1)]);
  }
  const toRow = (what: string, pairs: [number, number][], atMost?: number): Row => ({
    what,
    value: median(pairs.map(([service, bare]) => service / bare)),
    unit: "×",
    ...(atMost !== undefined && { target: { atMost } }),
    behind: {
      serviceMs: median(pairs.map(([service]) => service)),
      bareMs: median(pairs.map(([, bare]) => bare)),
    },
  });
  return [
    toRow("delivery lag (p95), 200 followers of one run", rounds.many, 1.5),
    toRow("delivery lag (p95), 1 follower", rounds.one),
  ];
}

/**
 * Returns the delay of events in milliseconds: the 95th percentile of the time from an event's timestamp to its arrival
 * at a follower.
 */
async function readLag(subject: Subject, followers: number, task: Task = TASK): Promise<number> {
  const { streamUrl } = await startTurn(subject, task);
  const joinedAt = Date.now();
  const arrivals: { text: string; atMs: number }[][] = Array.from({ length: followers }, () => []);
  await Promise.all(
    arrivals.map((own) =>
      followStream(subject.baseUrl + streamUrl, subject.headers, (text, atMs) => own.push({ text, atMs })),
    ),
  );
  const lags: number[] = [];
  for (const own of arrivals) {
    let rest = "";
    for (const { text, atMs } of own) {
      const blocks = (rest + text).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const stamp = /"timestamp":"([^"]+)"/.exec(block)?.[1];
        // Skips events from before all followers had joined. The server replays such events later, so their lag would
        // be too large.
        if (stamp === undefined || Date.parse(stamp) < joinedAt + 300) continue;
        lags.push(performance.timeOrigin + atMs - Date.parse(stamp));
      }
    }
  }
  return quantile(lags, 0.95);
}

const STREAMS = 500;
const LONG_TASK = { tools: 0, chunks: 40, chunkDelayMs: 100 };

/**
 * Measures the delay of events and the memory per stream while 500 streams follow one run. Measures the service first,
 * and then the bare loop (the baseline).
 */
async function measureStreams({ subject, baseline }: Rig): Promise<Row[]> {
  const measure = async (each: Subject) => {
    const before = readMemoryMb(each.pid);
    const lagging = readLag(each, STREAMS, LONG_TASK);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const during = readMemoryMb(each.pid);
    return { lagMs: await lagging, streamKb: (Math.max(0, during - before) * 1024) / STREAMS };
  };
  const service = await measure(subject);
  const bare = await measure(baseline);
  return [
    {
      what: `delivery lag (p95), ${STREAMS} streams of one run`,
      unit: "×",
      value: service.lagMs / bare.lagMs,
      behind: { serviceMs: service.lagMs, bareMs: bare.lagMs },
    },
    {
      what: `memory per stream, ${STREAMS} of them`,
      unit: "×",
      value: service.streamKb / Math.max(bare.streamKb, 1),
      behind: { serviceKb: service.streamKb, bareKb: bare.streamKb },
    },
  ];
}

export const followerMeasurements: Measurement[] = [
  { name: "followers", seconds: 18, measure: measureFollowers },
  { name: "streams", seconds: 14, measure: measureStreams },
];
