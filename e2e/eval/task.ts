/** What a played task produced, from which `isSolved` decides. */
export type Outcome = {
  /** The values that the page reported with `done(value)`, in order. */
  done: unknown[];
  /** The agent's last message. */
  answer: string;
  /** The typed result of a task with a schema; null without one. */
  value: unknown;
};

type SolverCall = { name: string; arguments: Record<string, unknown> };
/** A `browser_execute` script, another tool call, or a function that builds either from the tool results so far. */
export type SolverStep = string | SolverCall | ((results: string[]) => string | SolverCall);

/** A page on which the agent does something, and a function that decides whether it succeeded. */
export type Task = {
  /** Unique; the page is served at `/<id>/`. */
  id: string;
  /** What the agent is asked to do. */
  ask: string;
  /** HTML of the page. Its scripts report with `done(value)`. */
  page: string;
  /** Further answers of the site to GET and POST, by path below the page. */
  routes?: Record<string, Route>;
  /** The schema of the typed result, if the task asks for one. */
  schema?: Record<string, unknown>;
  isSolved: (outcome: Outcome) => boolean;
  /**
   * The steps of the ideal solver. After them it gives `answer` as its last message, and `value` as the typed result.
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

/** Whether the page reported this value; compares as JSON. */
export const reported = (wanted: unknown) => (outcome: Outcome) =>
  outcome.done.some((value) => JSON.stringify(value) === JSON.stringify(wanted));

/** Whether the agent's last message matches a pattern. */
export const says = (wanted: RegExp) => (outcome: Outcome) => wanted.test(outcome.answer);
