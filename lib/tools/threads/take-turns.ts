/** The outcome of a queued task: its result, or the reason why it did not begin. */
export type TurnOutcome<Result> = { ok: true; value: Result } | { ok: false; error: string };

/**
 * Runs `work` as a task with a name. Only a limited number of tasks with the same name run at once; further tasks wait
 * in order of arrival.
 */
type Turns = <Result>(
  name: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
) => Promise<TurnOutcome<Result>>;

type Queue = { busy: number; waiting: ((error?: string) => void)[] };

const STOPPED = "The call was stopped while it waited for its turn.";

/**
 * Creates the queues: one for each name. A task is refused if too many tasks already wait, or if the signal fires
 * before the task begins.
 *
 * @param limits.atOnce how many tasks with the same name run at once.
 * @param limits.waitingMax how many tasks with the same name may wait.
 */
export function createTurns(limits: { atOnce: number; waitingMax: number }): Turns {
  const queues = new Map<string, Queue>();

  /** Waits until the task may begin. @returns undefined, or why the task is refused. */
  async function enter(queue: Queue, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return STOPPED;
    if (queue.busy < limits.atOnce) {
      queue.busy++;
      return undefined;
    }
    if (queue.waiting.length >= limits.waitingMax)
      return "Too many calls are waiting already; try again when they are over.";
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const onAbort = () => {
      queue.waiting.splice(queue.waiting.indexOf(resolve), 1);
      resolve(STOPPED);
    };
    queue.waiting.push(resolve);
    signal.addEventListener("abort", onAbort, { once: true });
    const refusal = await promise;
    signal.removeEventListener("abort", onAbort);
    return refusal;
  }

  function leave(name: string, queue: Queue): void {
    // A waiting task takes over the slot directly, so `busy` does not change.
    const next = queue.waiting.shift();
    if (next) next();
    else if (--queue.busy === 0) queues.delete(name);
  }

  return async (name, signal, work) => {
    const queue = queues.get(name) ?? { busy: 0, waiting: [] };
    queues.set(name, queue);
    const refusal = await enter(queue, signal);
    if (refusal !== undefined) {
      if (queue.busy === 0) queues.delete(name);
      return { ok: false, error: refusal };
    }
    try {
      return { ok: true, value: await work() };
    } finally {
      leave(name, queue);
    }
  };
}
