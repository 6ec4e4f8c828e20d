import type { EngineEvent } from "../protocol.ts";
import type { RegisteredFunction } from "../triggers/registry.ts";

/** Lets calls through while there is room for the engine and for the function's own `concurrency` limits, in order. */
export type Slots = {
  /** Resolves, when there is room, with the function that gives it back. */
  acquire: (fn: RegisteredFunction, event: EngineEvent) => Promise<() => void>;
};

type Limit = { key: string; max: number };
type Waiting = { limits: Limit[]; enter: () => void };

/** Limits on calls at a time: `engineMax` over all functions, and each function's own. */
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
