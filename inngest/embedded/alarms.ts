import type { EngineClock } from "./clock.ts";

/** Pending alarms, at most one per key. A key is the id of a run, `cron:…` for a cron trigger, or `sweep`. */
export type Alarms = {
  /** Sets the alarm of a key, in place of an earlier alarm of that key. */
  set: (key: string, dueAtMs: number, ring: () => void) => void;
  clear: (key: string) => void;
  clearAll: () => void;
};

/** Creates alarms that are kept in memory only. After a restart, the engine sets them again. */
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
