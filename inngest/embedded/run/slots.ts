import type { EngineEvent } from "../protocol.ts";
import type { RegisteredFunction } from "../triggers/registry.ts";

/**
 * Limits concurrent calls, in total and by each function's own `concurrency`. Waiting calls are admitted in order of
 * arrival, but a call whose function has reached its limit does not block later calls.
 */
export type Slots = {
  /** Resolves when a slot is free. @returns a function that releases it. */
  acquire: (fn: RegisteredFunction, event: EngineEvent) => Promise<() => void>;
};

type Limit = { key: string; max: number };
type Waiting = { limits: Limit[]; enter: () => void };

/** Creates the slots. @param engineMax maximum number of concurrent calls of all functions together. */
export function createSlots(engineMax: number): Slots {
  const used = new Map<string, number>();
  const queue: Waiting[] = [];

  const hasRoom = (limits: Limit[]) => limits.every(({ key, max }) => (used.get(key) ?? 0) < max);
  const count = (limits: Limit[], by: 1 | -1) => {
    for (const { key } of limits) {
      const total = (used.get(key) ?? 0) + by;
      if (total > 0) used.set(key, total);
      else used.delete(key);
    }
  };

  function limitsOf(fn: RegisteredFunction, event: EngineEvent): Limit[] {
    const own = fn.concurrency
      .filter(({ limit }) => limit > 0)
      .map(({ limit, key }, at) => ({
        key: `${fn.id}:${at}:${key ? JSON.stringify(key({ event })) : ""}`,
        max: limit,
      }));
    return [{ key: "engine", max: engineMax }, ...own];
  }

  function admitWaiting() {
    for (let at = 0; at < queue.length; ) {
      const waiting = queue[at];
      if (!waiting || !hasRoom(waiting.limits)) {
        at++;
        continue;
      }
      queue.splice(at, 1);
      count(waiting.limits, 1);
      waiting.enter();
    }
  }

  async function acquire(fn: RegisteredFunction, event: EngineEvent) {
    const limits = limitsOf(fn, event);
    if (hasRoom(limits)) count(limits, 1);
    else await new Promise<void>((enter) => queue.push({ limits, enter }));
    return () => {
      count(limits, -1);
      admitWaiting();
    };
  }

  return { acquire };
}
