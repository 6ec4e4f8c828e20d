import { randomUUID } from "node:crypto";
import { type EngineEvent, INTERNAL_EVENTS, type Op, parseDueTime } from "../embedded/protocol.ts";
import { compileExpression } from "../embedded/triggers/expression.ts";
import type { RegisteredFunction } from "../embedded/triggers/registry.ts";
import { type Answer, type Call, callApp, composeBody, type Mode, newTicket } from "./call-app.ts";
import type { ChooseMishap } from "./mishap.ts";
import { isOpen, type QueueItem, recordStep, type StandInRun } from "./stand-in-run.ts";

/** Limits of the real server. */
const STEPS_MAX = 1_000;
const ANSWER_BYTES_MAX = 4 * 1_024 * 1_024;
const APP_AWAY = "the app could not be reached";

export type PlayerOptions = {
  mode: Mode;
  signingKey: string;
  /** What of a run's state may travel with a call; with more, the SDK is sent to the API for it. */
  readStateBytesMax: () => number;
  /** Between the first failed attempt and the next; then it doubles. */
  backoffMs: number;
  chooseMishap: ChooseMishap;
  /** Where a function is called, and the server's own id of it. */
  locate: (functionId: string) => { url: string; uuid: string };
  /** Told of events the server makes by itself. */
  emit: (event: EngineEvent) => void;
};

export type Player = ReturnType<typeof createPlayer>;

/** Plays runs as the server does: a queue in memory, each of its items a signed HTTP call to the app. */
export function createPlayer(options: PlayerOptions) {
  const runs = new Map<string, StandInRun>();
  const items = new Map<string, QueueItem>();
  const timers = new Set<NodeJS.Timeout>();
  const underWay = new Set<Promise<unknown>>();
  /** What went wrong in the stand-in itself, or against the protocol. */
  const faults: unknown[] = [];
  let isClosed = false;

  function track(work: Promise<unknown>) {
    const tracked = work
      .catch((error: unknown) => faults.push(error))
      .finally(() => underWay.delete(tracked));
    underWay.add(tracked);
  }

  function later(dueAtMs: number, act: () => void) {
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        act();
      },
      Math.max(0, dueAtMs - Date.now()),
    );
    timers.add(timer);
  }

  function enqueue(run: StandInRun, stepId?: string) {
    const item: QueueItem = { run, stepId, attempt: 0, ticket: newTicket(1) };
    items.set(item.ticket.itemId, item);
    track(process(item));
  }

  function start(fn: RegisteredFunction, event: EngineEvent) {
    const run: StandInRun = {
      ...{ id: randomUUID(), fn, event, startedAtMs: Date.now(), state: "running" as const },
      ...{ steps: new Map(), begun: new Set<string>(), waits: new Map(), isParallel: false, calls: 0 },
    };
    runs.set(run.id, run);
    enqueue(run);
  }

  async function process(item: QueueItem): Promise<void> {
    const { run } = item;
    if (isClosed || !isOpen(run)) return;
    const answer = await deliver(item);
    if (isClosed || !isOpen(run)) return;
    handle(item, answer);
  }

  /** Makes the call of an item, with whatever befalls it. */
  async function deliver(item: QueueItem): Promise<Answer> {
    const { run, ticket, stepId, attempt } = item;
    run.calls++;
    const { url, uuid: functionUuid } = options.locate(run.fn.id);
    const { maxAttempts } = run.fn;
    const state = { runId: run.id, event: run.event, steps: run.steps, isPlanOnly: run.isParallel };
    const call: Call = { url, functionUuid, ...state, stepId, attempt, maxAttempts, ticket };
    const whole = composeBody(call, options.mode, false);
    const body = whole.length > options.readStateBytesMax() ? composeBody(call, options.mode, true) : whole;
    const send = () => callApp(call, body, options.signingKey);
    const view = { functionId: run.fn.id, runId: run.id, number: run.calls, attempt, data: run.event.data };
    const mishap = options.chooseMishap(view);
    const failed = { kind: "failed", error: APP_AWAY, isFinal: false, retryAtMs: undefined } as const;
    switch (mishap?.kind) {
      case undefined:
        return send();
      case "refused":
        return failed;
      case "answer-lost":
        await send();
        return send();
      case "twice": {
        const both = [send(), send()];
        for (const each of both) track(each);
        return Promise.race(both);
      }
      case "given-up": {
        const sent = send();
        track(sent);
        return Promise.race([sent, mishap.after.then(() => failed)]);
      }
    }
  }

  function handle(item: QueueItem, answer: Answer) {
    const { run } = item;
    if (answer.kind === "completed") return complete(run, answer.output);
    if (answer.kind === "failed") {
      if (answer.isFinal || item.attempt + 1 >= run.fn.maxAttempts) return fail(run, answer.error);
      return retry(item, answer.retryAtMs);
    }
    if (JSON.stringify(answer.ops).length > ANSWER_BYTES_MAX) return fail(run, "output too large");
    const planned = answer.ops.filter(({ op }) => op === "StepPlanned");
    run.isParallel ||= planned.length > 1;
    let goesOn = false;
    for (const op of answer.ops) goesOn = handleOp(item, op, answer.retryAtMs) || goesOn;
    if (run.steps.size > STEPS_MAX) return fail(run, "the run has too many steps");
    if (goesOn && isOpen(run)) enqueue(run);
  }

  /** @returns whether the function can go on now. */
  function handleOp(item: QueueItem, op: Op, retryAtMs: number | undefined): boolean {
    const { run } = item;
    switch (op.op) {
      case "RunComplete":
        complete(run, op.data);
        return false;
      case "StepRun":
      case "Step":
        recordStep(run, op.id, { data: op.data ?? null });
        return true;
      case "StepError":
        if (item.attempt + 1 < run.fn.maxAttempts) {
          retry(item, retryAtMs);
          return false;
        }
        recordStep(run, op.id, { error: op.error });
        return true;
      case "StepFailed":
        recordStep(run, op.id, { error: op.error });
        return true;
      case "DiscoveryRequest":
        return true;
      case "StepPlanned":
        if (begin(run, op.id)) enqueue(run, op.id);
        return false;
      case "Sleep":
        if (begin(run, op.id)) later(parseDueTime(op.name, Date.now()), () => wake(run, op.id, null));
        return false;
      case "WaitForEvent":
        if (begin(run, op.id)) wait(run, op);
        return false;
      case "InvokeFunction":
        throw new Error("The stand-in plays no step.invoke.");
    }
  }

  function begin(run: StandInRun, stepId: string): boolean {
    const isNew = !run.begun.has(stepId) && !run.steps.has(stepId);
    run.begun.add(stepId);
    return isNew;
  }

  function wait(run: StandInRun, op: Extract<Op, { op: "WaitForEvent" }>) {
    const expression = op.opts.if === undefined ? undefined : compileExpression(op.opts.if);
    const matches = (event: EngineEvent) =>
      expression === undefined || expression({ event: run.event, async: event }) === true;
    run.waits.set(op.id, { eventName: op.name, matches });
    later(parseDueTime(op.opts.timeout, Date.now()), () => wake(run, op.id, null));
  }

  /** Ends a sleep or a wait. */
  function wake(run: StandInRun, stepId: string, value: unknown) {
    run.waits.delete(stepId);
    if (!isOpen(run) || run.steps.has(stepId)) return;
    recordStep(run, stepId, value);
    enqueue(run);
  }

  /** The same item again, as its next attempt: whatever still works on the last one is stale from now on. */
  function retry(item: QueueItem, atMs: number | undefined) {
    const delayMs = options.backoffMs * 2 ** item.attempt++;
    item.ticket = newTicket(item.ticket.generation + 1, item.ticket.itemId);
    later(atMs ?? Date.now() + delayMs, () => track(process(item)));
  }

  function complete(run: StandInRun, output: unknown) {
    run.state = "completed";
    run.output = output;
  }

  function fail(run: StandInRun, error: unknown) {
    run.state = "failed";
    run.error = error;
    const { fn, id: runId, event } = run;
    const data = { function_id: fn.id, run_id: runId, error, event };
    options.emit({ id: randomUUID(), name: INTERNAL_EVENTS.failed, data, ts: Date.now() });
  }

  return {
    runs,
    items,
    faults,
    start,
    cancel(run: StandInRun) {
      if (isOpen(run)) run.state = "cancelled";
    },
    /** Ends the waits that an event satisfies. */
    satisfyWaits(event: EngineEvent) {
      for (const run of runs.values())
        for (const [stepId, wait] of run.waits)
          if (wait.eventName === event.name && wait.matches(event)) wake(run, stepId, { data: event });
    },
    /** Forgets every run and place in the queue, as a server does that kept them in memory only. */
    forget() {
      for (const run of runs.values()) if (isOpen(run)) run.state = "cancelled";
    },
    async close() {
      isClosed = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.allSettled(underWay);
    },
  };
}
