import type { EngineClock } from "./clock.ts";

/** One pending alarm per key: parked runs by their id, crons by their function. */
export type Alarms = {
  /** Sets the key's alarm and replaces an earlier one. */
  set: (key: string, dueAtMs: number, ring: () => void) => void;
  clear: (key: string) => void;
  clearAll: () => void;
};

/** Alarms in memory; after a restart they are set again from the database. */
export function createAlarms(clock: EngineClock): Alarms {
  const pending = new Map<string, () => void>();
  const clear = (key: string) => {
    pending.get(key)?.();
    pending.delete(key);
  };
  return {
    clear,
    set(key, dueAtMs, ring) {
      clear(key);
      const cancel = clock.schedule(
        () => {
          pending.delete(key);
          ring();
        },
        Math.max(0, dueAtMs - clock.now()),
      );
      pending.set(key, cancel);
    },
    clearAll() {
      for (const key of [...pending.keys()]) clear(key);
    },
  };
}
