/** What the agent achieved in a task. The task's `isSolved` function judges this outcome. */
export type Outcome = {
  /** The values that the page reported with `done(value)`, in order. */
  done: unknown[];
  /** The text of the agent's last message. */
  answer: string;
  /** The typed result, if the task has a schema; otherwise null. */
  value: unknown;
};

type SolverCall = { name: string; arguments: Record<string, unknown> };
/**
 * A step of the ideal solver: a script for `browser_execute`, a call of another tool, or a function that returns a
 * script or a call. The function receives the results of the earlier steps.
 */
type SolverStep = string | SolverCall | ((results: string[]) => string | SolverCall);

/**
 * A task of the evaluation: a page, what the agent must do there, and a function that decides whether the agent
 * succeeded.
 */
export type Task = {
  /** The id of the task, which must be unique. The page is served at `/<id>/`. */
  id: string;
  /** The message that tells the agent what to do. */
  ask: string;
  /** The HTML of the page. Its scripts report values with `done(value)`. */
  page: string;
  /** The page's module and style sheet, `app.js` and `app.css`, if a library of `libraries/pages` draws the page. */
  library?: string;
  /** Further responses of the site to GET and POST, by their path below the page. */
  routes?: Record<string, Route>;
  /** The JSON Schema of the typed result, if the task asks for one. */
  schema?: Record<string, unknown>;
  isSolved: (outcome: Outcome) => boolean;
  /**
   * The steps of the ideal solver. After the last step, the solver says `answer` and submits `value` as the typed
   * result.
   */
  solve: SolverStep[];
  answer?: string | ((results: string[]) => string);
  value?: unknown;
};

/** A response of the site. */
export type Route = {
  body: string;
  type?: string;
  headers?: Record<string, string>;
  delayMs?: number;
  status?: number;
};

/** Returns a condition: whether the page has reported this value. The values are compared as JSON. */
export const reported = (wanted: unknown) => (outcome: Outcome) =>
  outcome.done.some((value) => JSON.stringify(value) === JSON.stringify(wanted));

/** Returns a condition: whether the agent's last message matches the pattern. */
export const says = (wanted: RegExp) => (outcome: Outcome) => wanted.test(outcome.answer);
