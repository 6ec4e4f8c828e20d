import type { Rig } from "./rig.ts";

/** A measured value and its target, if it has one. */
export type Row = {
  /** Description of the measured value. */
  what: string;
  value: number;
  unit: "×" | "%" | "s" | "ms" | "MB" | "kB" | "turns/s";
  target?: Target;
  /** The figures behind the value, with units in their names. They depend on the machine, so the table omits them. */
  behind: Record<string, number>;
};

export type Target = { atMost: number } | { atLeast: number };

/** A measurement: a name for `--only`, its expected duration, and a function that returns its rows. */
export type Measurement = {
  name: string;
  /** Expected duration in seconds. A run skips the measurement if less time is left. */
  seconds: number;
  measure: (rig: Rig) => Promise<Row[]>;
};

/** A server whose turns are measured: the service, or a baseline. */
export type Subject = {
  name: "service" | "bare loop" | "minimal loop" | "agent server";
  pid: number;
  baseUrl: string;
  createPath: string;
  headers: Record<string, string>;
  /** The body that starts a turn with this text. */
  bodyOf: (text: string) => unknown;
};
