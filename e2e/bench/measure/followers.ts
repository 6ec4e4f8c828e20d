import { followStream } from "../http.ts";
import { startTurn } from "../play-turn.ts";
import type { Rig } from "../rig.ts";
import { median, quantile } from "../statistics.ts";
import type { Measurement, Row, Subject } from "../types.ts";

const TASK = { tools: 3, chunks: 30, chunkDelayMs: 25 };

/** How late events reach the followers of one run: 200 of them, the service's and the bare loop's in turn. */
async function measureFollowers({ subject, baseline }: Rig): Promise<Row[]> {
  const rounds: Record<"many" | "one", [number, number][]> = { many: [], one: [] };
  for (let round = 0; round < 3; round++) {
    rounds.many.push([await readLag(subject, 200), await readLag(baseline, 200)]);
    rounds.one.push([await readLag(subject, 1), await readLag(baseline, 1)]);
  }
  const toRow = (what: string, pairs: [number, number][], atMost?: number): Row => ({
    ...{ what, value: median(pairs.map(([service, bare]) => service / bare)), unit: "×" },
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

/** The 95th percentile of the time from an event's timestamp to its arrival at a follower, in milliseconds. */
async function readLag(subject: Subject, followers: number): Promise<number> {
  const { streamUrl } = await startTurn(subject, TASK);
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
        // What happened before everybody had joined is a replay.
        if (stamp === undefined || Date.parse(stamp) < joinedAt + 300) continue;
        lags.push(performance.timeOrigin + atMs - Date.parse(stamp));
      }
    }
  }
  return quantile(lags, 0.95);
}

export const followerMeasurement: Measurement = { name: "followers", seconds: 18, measure: measureFollowers };
