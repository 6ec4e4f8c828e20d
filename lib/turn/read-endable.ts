import { isOpen } from "#lib/session/run-store.ts";
import { toClaim } from "./claim.ts";
import type { Endable } from "./close-run.ts";
import { listStepOutputs, readRun } from "./store.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** An open run without an executor of its own, as its end needs it; undefined once it has ended. */
export async function readEndable(turn: TurnDeps, runId: string): Promise<Endable | undefined> {
  const row = await readRun(turn.db, runId);
  if (!row || !isOpen(row.run)) return undefined;
  const { run, session, asked } = row;
  const outputs = new Map(await listStepOutputs(turn.db, runId));
  return { claim: toClaim(run, session), session, asked, startedAt: run.startedAt, outputs };
}
