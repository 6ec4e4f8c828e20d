import { playInFlight, playTurn, type TurnTimes } from "../play-turn.ts";
import { readCpuMs } from "../process-stats.ts";
import { repeat } from "../repeat.ts";
import type { Rig } from "../rig.ts";
import { median, medianRatio } from "../statistics.ts";
import type { Measurement, Row } from "../types.ts";

/**
 * Measures single turns of the service and of the bare loop (the baseline) alternately: the time until the end, the
 * time until the first event, and the CPU time.
 */
function measureTurns(
  tools: number,
  pairs: number,
  targets: { completed: number; cpu: number },
): Measurement["measure"] {
  return async ({ subject, baseline }) => {
    const cpu = [subject, baseline].map(({ pid }) => readCpuMs(pid));
    const times = await repeat(
      { rounds: pairs, secondsMax: 10 },
      async () => [await playTurn(subject, { tools }), await playTurn(baseline, { tools })] as const,
    );
    const [cpuService = 0, cpuBare = 0] = [subject, baseline].map(
      ({ pid }, index) => (readCpuMs(pid) - (cpu[index] ?? 0)) / times.length,
    );
    const compare = (what: string, read: (time: TurnTimes) => number, atMost?: number): Row => {
      const values = times.map(([service, bare]) => [read(service), read(bare)] as const);
      return {
        what,
        value: medianRatio(values),
        unit: "×",
        ...(atMost !== undefined && { target: { atMost } }),
        behind: {
          serviceMs: median(values.map(([service]) => service)),
          bareMs: median(values.map(([, bare]) => bare)),
        },
      };
    };
    const calls = tools === 1 ? "1 tool call" : `${tools} tool calls`;
    return [
      compare(`created → completed, ${calls}`, (time) => time.completedMs, targets.completed),
      ...(tools === 1
        ? [
            compare("created → first streamed event", (time) => time.firstEventMs, 1.8),
            compare("creation answered", (time) => time.createdMs),
          ]
        : []),
      {
        what: `CPU per turn, ${calls}`,
        value: cpuService / cpuBare,
        unit: "×",
        target: { atMost: targets.cpu },
        behind: { serviceMs: cpuService, bareMs: cpuBare },
      },
    ];
  };
}

/**
 * Measures turns per second while a constant number of turns is in flight. The service and the bare loop (the baseline)
 * are measured alternately.
 */
function measureInFlight(inFlight: number, rounds: number): Measurement["measure"] {
  return async ({ subject, baseline, modelPid }: Rig) => {
    const rates: [number, number][] = [];
    const load = { inFlight, forMs: 1_500 };
    let modelShare = 0;
    for (let round = 0; round < rounds; round++) {
      const service = await playInFlight(subject, { tools: 1 }, load);
      const [cpuMs, startedAt] = [readCpuMs(modelPid), performance.now()];
      const bare = await playInFlight(baseline, { tools: 1 }, { ...load, forMs: 1_000 });
      modelShare = (readCpuMs(modelPid) - cpuMs) / (performance.now() - startedAt);
      rates.push([service, bare]);
    }
    return [
      {
        what: `turns per second, ${inFlight} in flight`,
        value: medianRatio(rates),
        unit: "×",
        target: { atLeast: 0.6 },
        behind: {
          servicePerSecond: median(rates.map(([service]) => service)),
          barePerSecond: median(rates.map(([, bare]) => bare)),
          // CPU use of the scripted model while it serves the bare loop. If this value is near 1, the scripted model
          // slows down the bare loop.
          modelBusyBesideBare: modelShare,
        },
      },
    ];
  };
}

export const turnMeasurements: Measurement[] = [
  { name: "turn-1", seconds: 8, measure: measureTurns(1, 60, { completed: 1.7, cpu: 1.8 }) },
  { name: "turn-10", seconds: 10, measure: measureTurns(10, 20, { completed: 1.5, cpu: 1.5 }) },
  { name: "flight-16", seconds: 10, measure: measureInFlight(16, 3) },
  { name: "flight-64", seconds: 16, measure: measureInFlight(64, 2) },
];
