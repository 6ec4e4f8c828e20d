import { setTimeout as sleep } from "node:timers/promises";
import { startService } from "../../fixtures/service.ts";
import { playTurns } from "../play-turn.ts";
import { listMemoryMb, readMemoryMb } from "../process-stats.ts";
import { describeAgentServer, describeService, type Rig, startAgentServer } from "../rig.ts";
import { sum } from "../statistics.ts";
import type { Measurement, Row } from "../types.ts";

const SESSIONS = 500;
/**
 * Pauses before the memory is read. An idle process returns memory to the system after 5 to 10 s and closes idle
 * database connections after 10 s.
 */
const START_PAUSE_MS = 15_000;
const PAUSE_MS = 30_000;

/**
 * Measures the memory of all processes of an idle service after its start, and after 500 sessions and a pause. Compares
 * both with the memory of the agent server, a baseline that keeps everything in memory.
 */
async function measureMemory(rig: Rig): Promise<Row[]> {
  const { variables, database } = rig;
  const service = await startService(variables);
  const server = await startAgentServer(rig);
  try {
    const pid = service.pid ?? 0;
    await sleep(START_PAUSE_MS);
    const idle = listMemoryMb(pid);
    const serverIdleMb = readMemoryMb(server.pid);
    await playTurns(describeService(service), { tools: 1 }, SESSIONS, 8);
    await sleep(PAUSE_MS);
    const after = listMemoryMb(pid);
    await playTurns(describeAgentServer(server), { tools: 1 }, SESSIONS, 8);
    await sleep(PAUSE_MS);
    const serverAfterMb = readMemoryMb(server.pid);
    const where = database === undefined ? "" : " without its Postgres server";
    return [
      {
        what: `idle memory (PSS), all processes${where}`,
        unit: "MB",
        value: sum(Object.values(idle)),
        target: { atMost: 250 },
        behind: idle,
      },
      {
        what: `the same after ${SESSIONS} sessions and a pause of ${PAUSE_MS / 1000} s, relative to idle`,
        unit: "×",
        value: sum(Object.values(after)) / sum(Object.values(idle)),
        target: { atMost: 1.25 },
        behind: after,
      },
      compare("idle memory", sum(Object.values(idle)), serverIdleMb),
      compare(`memory after ${SESSIONS} sessions`, sum(Object.values(after)), serverAfterMb),
    ];
  } finally {
    await service.close();
    await server.stop();
  }
}

const compare = (what: string, serviceMb: number, otherMb: number): Row => ({
  what: `${what}, relative to the agent server`,
  unit: "×",
  value: serviceMb / otherMb,
  behind: { serviceMb, otherMb },
});

export const memoryMeasurement: Measurement = { name: "memory", seconds: 100, measure: measureMemory };
