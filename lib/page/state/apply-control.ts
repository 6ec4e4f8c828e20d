import type { ControlHolder, LiveFrame } from "./view-types.ts";

type ControlFrame = Extract<LiveFrame, { type: "control" }>;

/** Who has control of the live browser, as the page shows it. */
export type ControlView = {
  /** The person who has control of the browser; null if no person has control. */
  control: ControlHolder;
  /** Name of that person. */
  controlName: string | null;
  /** When control ends unless the person does something. Null if that is not near. */
  controlExpiry: { because: "idle" | "away"; leftMs: number } | null;
  /** Why this visitor lost control, and to whom; null if the visitor did not lose it, or has read it. */
  controlLoss: ControlLoss | null;
  /** Why the visitor's wish for control had no effect. */
  controlProblem: string | null;
  /** Whether this visitor had control when the connection was lost. */
  hadControl: boolean;
};

export type ControlLoss = {
  reason: Exclude<NonNullable<ControlFrame["data"]["ended"]>, "given_back">;
  takenBy: string | null;
};

export const NO_CONTROL: ControlView = {
  control: null,
  controlName: null,
  controlExpiry: null,
  controlLoss: null,
  controlProblem: null,
  hadControl: false,
};

/** Returns the state of control at the beginning of a connection. */
export const beginControl = ({ control, hadControl, controlLoss }: ControlView): ControlView => ({
  ...NO_CONTROL,
  controlLoss,
  hadControl: control === "you" || hadControl,
});

/** Applies a `control` frame. Pure. */
export function applyControl(state: ControlView, { data, timestamp }: ControlFrame): ControlView {
  const { holder, name, expiresAt, expiresBecause, problem } = data;
  const had = state.control === "you" || state.hadControl;
  // An earlier connection of this visitor still has control: the visitor gets it back in a moment.
  const mayReturn = state.hadControl && expiresBecause === "away";
  const isLost = had && holder !== "you" && !mayReturn;
  const controlExpiry =
    expiresAt !== null && expiresBecause !== null
      ? { because: expiresBecause, leftMs: Date.parse(expiresAt) - Date.parse(timestamp) }
      : null;
  return {
    control: holder,
    controlName: name,
    controlExpiry,
    controlLoss: isLost ? describeLoss(data) : holder === "you" ? null : state.controlLoss,
    controlProblem: problem ?? null,
    hadControl: mayReturn,
  };
}

function describeLoss({ holder, name, ended }: ControlFrame["data"]): ControlLoss | null {
  if (holder === "someone") return { reason: "taken", takenBy: name };
  if (ended === null || ended === "given_back") return null;
  return { reason: ended, takenBy: null };
}
