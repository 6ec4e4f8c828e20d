import { createHash, randomUUID } from "node:crypto";
import type { Change, EngineStore, NewRun, Receipt } from "../engine-store/engine-store.ts";
import type { EngineEvent, EventPayload } from "../protocol.ts";
import { compileExpression } from "./expression.ts";
import { cancelsRun, type Registry } from "./registry.ts";

/**
 * Adds the ids, data and times that events lack. A missing id is derived from the seed that the SDK sends with a
 * request, so that a repeated request creates the same ids. Without a seed, a missing id is random.
 */
export function toEvents(payloads: EventPayload[], seed: string | null, nowMs: number): EngineEvent[] {
  return payloads.map((payload, at) => {
    const fallbackId =
      seed === null ? randomUUID() : createHash("sha256").update(`${seed}:${at}`).digest("hex").slice(0, 32);
    return { ...payload, id: payload.id || fallbackId, data: payload.data ?? {}, ts: payload.ts ?? nowMs };
  });
}

async function matchWaits(
  store: EngineStore,
  isAwaited: (eventName: string) => boolean,
  events: EngineEvent[],
) {
  const names = [...new Set(events.map((event) => event.name))].filter(isAwaited);
  if (names.length === 0) return [];
  const waits = await store.findWaits(names);
  return waits.flatMap(({ runId, stepId, eventName, expression, event: startedBy }) => {
    const matches = expression === null ? () => true : compileExpression(expression);
    const match = events.find(
      (event) => event.name === eventName && matches({ event: startedBy, async: event }) === true,
    );
    return match ? [{ runId, stepId, eventId: match.id }] : [];
  });
}

async function matchCancellations(
  store: EngineStore,
  registry: Registry,
  events: EngineEvent[],
  nowMs: number,
) {
  const functions = new Map(
    events.flatMap((event) => registry.cancellableBy(event.name)).map((fn) => [fn.id, fn] as const),
  );
  if (functions.size === 0) return [];
  const runs = await store.findOpenRuns([...functions.keys()]);
  return runs.flatMap(({ runId, functionId, createdAtMs, event: startedBy }) => {
    const fn = functions.get(functionId);
    const match = events.find((event) => fn && cancelsRun(fn, event, startedBy, createdAtMs, nowMs));
    return match ? [{ runId, eventId: match.id }] : [];
  });
}

/**
 * What incoming events are matched against. `isAwaited` must return true for every event that a run waits for, and may
 * return true for other events.
 */
type EventScene = {
  store: EngineStore;
  registry: Registry;
  isAwaited: (eventName: string) => boolean;
  nowMs: number;
};

/**
 * Stores events with their consequences in one transaction: runs to start, waits to end, runs to cancel. An event with
 * an id that is already stored has no effect. Waits are looked up before the transaction and ended by compare-and-set,
 * so a wait that ends after the look-up keeps its result.
 */
export async function receiveEvents(
  { store, registry, isAwaited, nowMs }: EventScene,
  events: EngineEvent[],
  planRuns: (event: EngineEvent) => NewRun[] = registry.planRuns,
): Promise<{ change: Change; receipt: Receipt }> {
  const unique = [...new Map(events.map((event) => [event.id, event])).values()];
  const cancelled = await matchCancellations(store, registry, unique, nowMs);
  const cancelledIds = new Set(cancelled.map(({ runId }) => runId));
  const satisfied = (await matchWaits(store, isAwaited, unique)).filter(
    ({ runId }) => !cancelledIds.has(runId),
  );
  const change: Change = { events: unique, runs: unique.flatMap(planRuns), satisfied, cancelled };
  return { change, receipt: await store.commit(change) };
}
