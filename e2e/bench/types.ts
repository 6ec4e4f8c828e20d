import type { Rig } from "./rig.ts";

/** A row of the report: a measured value and its target, if it has one. */
export type Row = {
  /** What was measured. */
  what: string;
  value: number;
  unit: "×" | "%" | "s" | "ms" | "MB" | "kB" | "turns/s" | "frames";
  target?: Target;
  /**
   * The figures from which the value was computed. The table does not show them, because they depend on the machine.
   */
  behind: Record<string, number>;
};

export type Target = { atMost: number } | { atLeast: number };

/** A measurement. `--only` selects it by its name, and `measure` returns the rows that it adds to the report. */
export type Measurement = {
  name: string;
  /** Expected duration in seconds. A run that has less time left skips the measurement. */
  seconds: number;
  measure: (rig: Rig) => Promise<Row[]>;
};
