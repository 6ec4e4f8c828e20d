import type { Rig } from "./rig.ts";

/** A number that was measured, and what it is held against; `target` is undefined where nothing was promised. */
export type Row = {
  /** What was measured, in words. */
  what: string;
  value: number;
  unit: "×" | "%" | "s" | "ms" | "MB" | "kB" | "turns/s";
  target?: Target;
  /** The figures behind the value, in their units. They belong to one machine, so the table leaves them out. */
  behind: Record<string, number>;
};

export type Target = { atMost: number } | { atLeast: number };

/** One measurement: a name for `--only`, how long it may take, and the rows it makes. */
export type Measurement = {
  name: string;
  /** Roughly, in seconds, so that a run that is out of time leaves it out. */
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
