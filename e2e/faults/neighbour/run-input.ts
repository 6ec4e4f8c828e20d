import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { API_KEY, type RunningService, startService } from "#e2e/fixtures/service.ts";
import type { AttackCommand, AttackerReady, AttackReport } from "./attacker.ts";
import type { HostileInput } from "./hostile-input.ts";
import { createVictim, medianOf, type Victim } from "./measure-turns.ts";
import type { StageReady } from "./stage.ts";
import { startProgram } from "./start-program.ts";
import { watchHealth } from "./watch-health.ts";
import { MIB, type Peak, watchMemory } from "./watch-memory.ts";

const WARM_TURNS = 2;
const TURN_MAX_MS = 60_000;
/** Time that the hostile work gets to begin, and the shortest time during which it is measured. */
const BEGIN_MAX_MS = 30_000;
const ATTACK_MIN_MS = 10_000;
const MEMORY_END_BYTES = 1_536 * MIB;

/** The rates of a deployment that sets none. Other tests switch them off. */
const SHIPPED_RATES = {
  RATE_LIMIT_CREATE: "60",
  RATE_LIMIT_POLL: "600",
  RATE_LIMIT_ANNOTATE: "120",
  RATE_LIMIT_FAILED_AUTH: "30",
};

export type Measurement = {
  usualMs: number;
  /** The times of the turns during the attack; the last one may be cut off at its limit. */
  attackedMs: number[];
  healthMs: number;
  peak: Peak;
  /** Why the input could not be measured completely, or was not survived. */
  problems: string[];
  /** What the hostile owner saw last. */
  attack: AttackReport;
};

/** Plays one input against a service of its own. @param turns number of measured turns, before and during the attack. */
export async function runInput(input: HostileInput, turns: number): Promise<Measurement> {
  const folder = await mkdtemp(join(tmpdir(), "neighbour-"));
  const attacker = await startProgram<AttackerReady>("./attacker.ts", input.name);
  const stage = await startProgram<StageReady>("./stage.ts", attacker.ready.model);
  const certificate = join(folder, "certificate.pem");
  await writeFile(certificate, attacker.ready.certificate);
  let service: RunningService | undefined;
  try {
    service = await startService(
      { ...SHIPPED_RATES, OPENAI_BASE_URL: stage.ready.model, NODE_EXTRA_CA_CERTS: certificate },
      { dataDir: join(folder, "data") },
    );
    const victim = await createVictim(service, stage.ready.pageUrl, TURN_MAX_MS);
    return await measure(service, victim, attacker.child, turns);
  } finally {
    await Promise.all([attacker.close(), service?.kill()]);
    await stage.close();
    // Processes of the service's sandbox and browser may still write for a moment.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function measure(
  service: RunningService,
  victim: Victim,
  attacker: Awaited<ReturnType<typeof startProgram>>["child"],
  turns: number,
): Promise<Measurement> {
  const memory = watchMemory(service.pid ?? 0, MEMORY_END_BYTES);
  const problems: string[] = [];
  const usual: number[] = [];
  for (let turn = 0; turn < WARM_TURNS + turns; turn++) {
    const ms = await victim.playTurn();
    if (turn >= WARM_TURNS) usual.push(ms);
  }
  const attack: AttackReport = {};
  attacker.on("message", (report: AttackReport) => void Object.assign(attack, report));
  attacker.send({ service: service.baseUrl, apiKey: API_KEY } satisfies AttackCommand);
  const health = watchHealth(service.baseUrl);
  const attackedMs: number[] = [];
  try {
    await untilBegun(attack);
    const endAt = performance.now() + ATTACK_MIN_MS;
    while (attackedMs.length < turns || performance.now() < endAt) {
      const startedAt = performance.now();
      try {
        attackedMs.push(await victim.playTurn());
      } catch (error) {
        attackedMs.push(performance.now() - startedAt);
        throw error;
      }
    }
  } catch (error) {
    if (!memory.hasEnded()) problems.push(error instanceof Error ? error.message : String(error));
  }
  const { longestMs, failures } = health.stop();
  memory.stop();
  if (memory.hasEnded()) problems.push(`ended at ${MEMORY_END_BYTES / MIB} MiB`);
  else if (failures > 0) problems.push(`${failures} health checks failed`);
  if (attack.failure) problems.push(`the attack failed: ${attack.failure}`);
  return { usualMs: medianOf(usual), attackedMs, healthMs: longestMs, peak: memory.peak, problems, attack };
}

/** Waits until the hostile work has begun. @throws Error if it does not begin, because then nothing is measured. */
async function untilBegun(attack: AttackReport): Promise<void> {
  const end = performance.now() + BEGIN_MAX_MS;
  while (attack.turns === undefined && !attack.isAttacking) {
    if (attack.failure || performance.now() > end) throw new Error("the hostile work did not begin");
    await sleep(10);
  }
}
