/** What an armed point does. Source: `faults.md`. */
export type FaultAction = "kill9" | "throw" | "delay" | "exec-then-throw";

/** A fault to happen: at which arrival at which point, what, and how long after the arrival. */
export type FaultSpec = { point: string; nth: number; action: FaultAction; afterMs: number };

/** What a point throws: an infrastructure failure, as far as its callers can tell. */
export class InjectedFault extends Error {
  constructor(point: string) {
    super(`injected fault at ${point}`);
    this.name = "InjectedFault";
  }
}

const DELAY_MS = 2_000;
const FORM = /^([A-Za-z0-9-]+):([1-9]\d{0,5}):(kill9|throw|delay|exec-then-throw)(?:@(\d{1,6}))?$/;

let armed: FaultSpec | undefined;
let arrivals = 0;
let throwsNext = false;

/**
 * Reads `<point>:<nth>:<kill9|throw|delay|exec-then-throw>[@<milliseconds>]`; undefined for any other text. The
 * milliseconds put a kill off while the process goes on, and are the length of a delay (2 s without them).
 */
export function parseFault(text: string): FaultSpec | undefined {
  const [, point, nth, action, afterMs] = FORM.exec(text) ?? [];
  if (point === undefined) return undefined;
  // The form above lets nothing else through.
  return { point, nth: Number(nth), action: action as FaultAction, afterMs: Number(afterMs ?? 0) };
}

/** Arms one fault in this process, for the fault campaign alone; undefined disarms. */
export function armFaults(spec: FaultSpec | undefined): void {
  armed = spec;
  arrivals = 0;
  throwsNext = false;
}

/**
 * A place at which the fault campaign may hurt this process. Does nothing unless a fault is armed.
 *
 * @throws InjectedFault where `throw` says so; with `exec-then-throw` the point itself is passed, and the next point that
 * anything arrives at throws: what lies between the two was done, and its success is lost.
 */
export function faultPoint(name: string): Promise<void> | void {
  if (armed !== undefined) return arrive(armed, name);
}

function arrive({ point, nth, action, afterMs }: FaultSpec, name: string): Promise<void> | void {
  if (throwsNext) {
    throwsNext = false;
    throw new InjectedFault(name);
  }
  if (name !== point || ++arrivals !== nth) return;
  if (action === "throw") throw new InjectedFault(name);
  if (action === "exec-then-throw") throwsNext = true;
  if (action === "delay") return new Promise((resolve) => setTimeout(resolve, afterMs || DELAY_MS));
  if (action === "kill9" && afterMs > 0) setTimeout(kill, afterMs);
  else if (action === "kill9") kill();
}

const kill = () => process.kill(process.pid, "SIGKILL");
