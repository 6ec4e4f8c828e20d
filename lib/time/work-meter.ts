import { setTimeout as pause } from "node:timers/promises";

/** A monotonic clock in milliseconds that can wait. Tests replace it. */
export type Clock = { now: () => number; pause: (ms: number) => Promise<unknown> };
export const CLOCK: Clock = { now: () => performance.now(), pause };

/** Counts the work of each subject at a rate, so that a subject with too much work at once waits. */
export type WorkMeter = {
  /**
   * Returns how long new work of a subject would have to wait, in milliseconds.
   *
   * @param at the time of a monotonic clock.
   * @param ms how long the work takes at the subject's rate.
   */
  waitOf: (subject: string, at: number, ms: number) => number;
  /** Counts work. The parameters are those of `waitOf`. */
  add: (subject: string, at: number, ms: number) => void;
};

const SUBJECTS_MAX = 10_000;

/** Creates a meter. A subject that was idle can do work of `burstMs` at once. */
export function createWorkMeter(burstMs: number): WorkMeter {
  /** When the work of each subject would be done at the subject's rate. */
  const doneAt = new Map<string, number>();
  const startOf = (subject: string, at: number) => Math.max(at, doneAt.get(subject) ?? 0);
  return {
    waitOf: (subject, at, ms) => Math.max(0, startOf(subject, at) + ms - at - burstMs),
    add(subject, at, ms) {
      const end = startOf(subject, at) + ms;
      // Deleted and set again, so that the first entry is the least recently used one.
      doneAt.delete(subject);
      doneAt.set(subject, end);
      if (doneAt.size > SUBJECTS_MAX) doneAt.delete(doneAt.keys().next().value ?? "");
    },
  };
}
