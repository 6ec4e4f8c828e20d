import type { CheckContext } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";

/** Numbers that Chromium counts in the process of a page. Nodes that scripts still refer to count too. */
export type PageSize = { nodes: number; listeners: number; scriptMs: number };

/** What one mutation of a page costs. */
export type MutationCost = {
  /** How long scripts work, directly after the mutation or in timers and frames that follow, in milliseconds. */
  workMs: number;
  /** How many nodes and event listeners the page has more after each mutation. */
  nodes: number;
  listeners: number;
};

/** Reads how much a page holds. With `isExact`, only what scripts still refer to. */
export const readPageSize = (
  load: PageLoad,
  { limits }: Pick<CheckContext, "limits">,
  isExact: boolean,
): Promise<PageSize> =>
  load.inWorld(limits.answerMs, async ({ session }) => {
    await session.send("Performance.enable");
    if (isExact) await session.send("HeapProfiler.collectGarbage");
    const { metrics } = await session.send("Performance.getMetrics");
    const read = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? 0;
    return {
      nodes: read("Nodes"),
      listeners: read("JSEventListeners"),
      scriptMs: read("ScriptDuration") * 1_000,
    };
  });

/** Measures what mutations of a page cost. With `isExact`, nodes and listeners that are garbage do not count. */
export async function measureCost(
  load: PageLoad,
  check: Pick<CheckContext, "limits">,
  isExact = false,
): Promise<MutationCost> {
  const before = await readPageSize(load, check, isExact);
  const { rounds, workMs } = await load.look("measureMutations", null);
  const after = await readPageSize(load, check, isExact);
  return {
    workMs: Math.max(workMs, (after.scriptMs - before.scriptMs) / rounds),
    nodes: (after.nodes - before.nodes) / rounds,
    listeners: (after.listeners - before.listeners) / rounds,
  };
}
