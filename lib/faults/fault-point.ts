/**
 * The names of the places in the code at which a fault can be injected, each with its number in the fault campaign.
 * Source: `faults.md`, Kill points.
 */
const FAULT_POINTS = {
  "create-begun": "K01",
  "create-committed": "K02",
  "create-job-unsent": "K03",
  "job-sent": "K04",
  "run-claimed": "K05",
  "probe-sent": "K06",
  "probe-recorded": "K07",
  "model-called": "K08",
  "model-text": "K09",
  "model-tool-input": "K10",
  "model-ended": "K11",
  "step-recorded": "K12",
  "tool-begun": "K13",
  "tool-running": "K14",
  "tool-ended": "K15",
  "tool-recorded": "K16",
  "collect-sent": "K17",
  "collect-answered": "K18",
  "correct-sent": "K19",
  "close-begun": "K20",
  "close-committed": "K21",
  "callback-answered": "K22",
  "callback-waiting": "K23",
  "callback-dropped": "K24",
  "follow-up-committed": "K25",
  "compaction-half-done": "K26",
  "browser-starting": "K27",
  "browser-navigating": "K28",
  "agents-spawned": "K29",
  "agent-result-recorded": "K30",
  "park-begun": "K31",
  "wake-committed": "K32",
  "removal-half-done": "K33",
  "revision-stored": "K34",
  "check-begun": "K35",
  "preview-begun": "K36",
  "publish-begun": "K37",
  "release-stored": "K38",
  "publication-moved": "K39",
  "tests-stored": "K48",
  "tests-running": "K49",
  "tests-read": "K50",
  "plan-stored": "K40",
  "requirements-stored": "K41",
  "page-files-stored": "K42",
  "page-deployed": "K43",
  "page-moved": "K44",
  "report-stored": "K45",
  "import-half-stored": "K46",
  "export-half-written": "K47",
  "budget-stored": "K51",
  "host-started": "K52",
  "host-attached": "K53",
  "host-given-up": "K54",
  "site-data-written": "K55",
  "site-data-stored": "K56",
  "park-committed": "K57",
  "writes-shared": "K58",
} as const;

/** A named place in the code, or `statement`, which is reached at every database statement. */
export type FaultPoint = keyof typeof FAULT_POINTS | "statement";

/** What a fault does. Source: `faults.md`, Fault points. */
type FaultAction = "kill9" | "throw" | "delay" | "exec-then-throw";

/**
 * A fault that happens when `point` is reached for the `nth` time. `afterMs` is the time by which a `kill9` is
 * postponed, or the length of a `delay`.
 */
type FaultSpec = { point: FaultPoint; nth: number; action: FaultAction; afterMs: number };

/** The error that a fault throws. To callers it looks like a failure of the infrastructure. */
export class InjectedFault extends Error {
  constructor(point: FaultPoint) {
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
 * Parses `<point>:<nth>:<kill9|throw|delay|exec-then-throw>[@<milliseconds>]`. Returns undefined for any other text.
 * `<point>` is the name or the number of a point. For `kill9`, `<milliseconds>` is the time that the process continues
 * to work before it is killed. For `delay`, it is the length of the delay (2 s if omitted).
 */
export function parseFault(text: string): FaultSpec | undefined {
  const [, place = "", nth, action, afterMs] = FORM.exec(text) ?? [];
  const point = findPoint(place);
  if (point === undefined) return undefined;
  // The cast is safe, because FORM matches no other action.
  return { point, nth: Number(nth), action: action as FaultAction, afterMs: Number(afterMs ?? 0) };
}

function findPoint(place: string): FaultPoint | undefined {
  if (place === "statement") return place;
  const points = Object.entries(FAULT_POINTS) as [FaultPoint, string][];
  return points.find((entry) => entry.includes(place))?.[0];
}

/** Arms a fault in this process in place of the current one. Undefined disarms it. Only for the fault campaign. */
export function armFaults(spec: FaultSpec | undefined): void {
  armed = spec;
  arrivals = 0;
  throwsNext = false;
}

/**
 * Marks a place at which the fault campaign may kill, fail or delay this process. Does nothing unless a fault is armed.
 *
 * @throws InjectedFault at the armed point if the action is `throw`. If the action is `exec-then-throw`, the point that
 * is reached next throws, whatever its name. The work between the two points is then done, but its caller sees a
 * failure.
 */
export function faultPoint(name: FaultPoint): Promise<void> | void {
  if (armed !== undefined) return arrive(armed, name);
}

function arrive({ point, nth, action, afterMs }: FaultSpec, name: FaultPoint): Promise<void> | void {
  if (throwsNext) {
    throwsNext = false;
    throw new InjectedFault(name);
  }
  if (name !== point || ++arrivals !== nth) return;
  if (action === "throw") throw new InjectedFault(name);
  if (action === "exec-then-throw") throwsNext = true;
  if (action === "delay") {
    // The campaign waits for this line, and kills another process during the delay.
    console.error(`fault: ${name} is delayed`);
    return new Promise((resolve) => setTimeout(resolve, afterMs || DELAY_MS));
  }
  if (action === "kill9" && afterMs > 0) setTimeout(kill, afterMs);
  else if (action === "kill9") kill();
}

const kill = () => process.kill(process.pid, "SIGKILL");
