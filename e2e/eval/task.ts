/** What a task leaves behind, for its reward. */
export type Outcome = {
  /** What the page reported with `done(value)`, in order. */
  done: unknown[];
  /** The agent's last message. */
  answer: string;
  /** The typed result of a task with a schema; null without one. */
  value: unknown;
};

/** One call of the ideal solver, or a function of what the tools have returned so far. */
type SolverCall = { name: string; arguments: Record<string, unknown> };
export type SolverStep = string | SolverCall | ((results: string[]) => string | SolverCall);

/** A page with something to do on it, and a reward that a program computes. */
export type Task = {
  /** Unique; the page is served at `/<id>/`. */
  id: string;
  /** What the agent is asked to do. */
  ask: string;
  /** HTML of the page. Its scripts report with `done(value)`. */
  page: string;
  /** Further answers of the site, by path below the page, for GET and POST. */
  routes?: Record<string, Route>;
  /** The schema of the typed result, if the task asks for one. */
  schema?: Record<string, unknown>;
  isSolved: (outcome: Outcome) => boolean;
  /**
   * What an ideal agent does: scripts for `browser_execute`, or calls of other tools. After them it gives `answer`, and
   * `value` as the typed result.
   */
  solve: SolverStep[];
  answer?: string | ((results: string[]) => string);
  value?: unknown;
};

type Route = {
  body: string;
  type?: string;
  headers?: Record<string, string>;
  delayMs?: number;
  status?: number;
};

/** Whether a value was reported, compared as JSON. */
export const reported = (wanted: unknown) => (outcome: Outcome) =>
  outcome.done.some((value) => JSON.stringify(value) === JSON.stringify(wanted));

/** Whether the agent's last message says something. */
export const says = (wanted: RegExp) => (outcome: Outcome) => wanted.test(outcome.answer);
