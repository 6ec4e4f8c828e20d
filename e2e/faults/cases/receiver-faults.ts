import type { FaultCase } from "../fault-case.ts";

/** How a receiver misbehaves, and what its deliveries must come to: the finished attempts of each. */
const RECEIVER_FAULTS: { hook: string; title: string; attempts: number; state?: "dropped" }[] = [
  { hook: "500-x4", title: "500 four times, then 200", attempts: 5 },
  { hook: "500-x9", title: "500 for good", attempts: 5, state: "dropped" },
  { hook: "wait-9900", title: "answers after 9.9 s", attempts: 1 },
  { hook: "wait-10100", title: "answers after 10.1 s", attempts: 2 },
  { hook: "drip-headers", title: "headers that drip", attempts: 2 },
  { hook: "drip-body", title: "body that drips", attempts: 2 },
  { hook: "endless", title: "body without an end", attempts: 1 },
  { hook: "redirect", title: "302 to a private address", attempts: 2 },
];

/** A receiver that misbehaves never harms a run, and every delivery ends delivered or dropped. */
export const receiverFaults: FaultCase[] = RECEIVER_FAULTS.map(({ hook, title, attempts, state }) => ({
  name: `receiver-${hook}`,
  group: "receiver",
  title,
  seedsMax: 1,
  async play(world) {
    await world.start();
    const created = await world.create("plain", { hook });
    if (created) await world.followUp(created.sessionId, "plain");
    await world.quiet();
  },
  findViolations: ({ rows }) => [
    ...rows.runs.filter((run) => run.state !== "succeeded").map((run) => `${run.id} ended ${run.state}`),
    ...rows.deliveries
      .filter((row) => row.state !== (state ?? "delivered") || row.attemptsFinished !== attempts)
      .map((row) => `${row.event} is ${row.state} after ${row.attemptsFinished} attempts`),
  ],
}));
