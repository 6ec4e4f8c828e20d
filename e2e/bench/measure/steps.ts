import type { LoggedCall } from "../model/main.ts";
import { playTurn } from "../play-turn.ts";
import type { Rig } from "../rig.ts";
import { median } from "../statistics.ts";
import type { Measurement, Row } from "../types.ts";

const STEPS = 1_010;
/** The value of a step is the median over the step, the 8 steps before it and the 8 steps after it. */
const AROUND = 8;

/**
 * Measures early and late steps of a turn with 1,000 steps. A step is the time from the model's answer to the next
 * model call.
 */
async function measureSteps({ subject, baseline, takeCalls }: Rig): Promise<Row[]> {
  await takeCalls();
  await playTurn(subject, { tools: STEPS, tag: "service" });
  await playTurn(baseline, { tools: STEPS, tag: "bare", byHand: true });
  const calls = await takeCalls();
  const [service, bare] = ["service", "bare"].map((tag) =>
    readGaps(calls.filter((call) => call.tag === tag)),
  );
  if (!service || !bare) throw new Error("no model calls were logged");
  // In each step, the SDK processes and sends the whole history. The bare loop (the baseline) has the same cost, so its
  // time is subtracted.
  const own = (step: number) => Math.max(0.1, around(service, step) - around(bare, step));
  return [
    ...[10, 100, 1_000].map(
      (step): Row => ({
        what: `a step at step ${step}`,
        value: around(service, step) / around(bare, step),
        unit: "×",
        behind: { serviceMs: around(service, step), bareMs: around(bare, step) },
      }),
    ),
    {
      what: "step 1,000 ÷ step 10, the whole step",
      unit: "×",
      value: around(service, 1_000) / around(service, 10),
      target: { atMost: 1.1 },
      behind: { bareLoopItself: around(bare, 1_000) / around(bare, 10) },
    },
    {
      what: "step 1,000 ÷ step 10, what the service adds to the loop",
      unit: "×",
      value: own(1_000) / own(10),
      target: { atMost: 1.1 },
      behind: { at10Ms: own(10), at1000Ms: own(1_000) },
    },
  ];
}

/**
 * Returns, by step number, the milliseconds from the answer to the previous model call until the model call of the
 * step. The first step has no previous call and is left out.
 */
function readGaps(calls: LoggedCall[]): Map<number, number> {
  const sorted = calls.toSorted((a, b) => a.step - b.step);
  return new Map(
    sorted.slice(1).map((call, index) => [call.step, call.arrivedMs - (sorted[index]?.answeredMs ?? 0)]),
  );
}

function around(gaps: Map<number, number>, step: number): number {
  const near = Array.from({ length: 2 * AROUND + 1 }, (_, index) => gaps.get(step - AROUND + index));
  return median(near.filter((gap) => gap !== undefined));
}

export const stepMeasurement: Measurement = { name: "steps", seconds: 50, measure: measureSteps };
