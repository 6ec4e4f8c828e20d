import { randomUUID } from "node:crypto";
import { type EngineEvent, INTERNAL_EVENTS, type Op, parseDueTime } from "../embedded/protocol.ts";
import { compileExpression } from "../embedded/triggers/expression.ts";
import type { RegisteredFunction } from "../embedded/triggers/registry.ts";
import { type Answer, type Call, callApp, composeBody, type Mode, newTicket } from "./call-app.ts";
import type { ChooseDeliveryFault } from "./delivery-fault.ts";
import { isOpen, type QueueItem, recordStep, type StandInRun } from "./stand-in-run.ts";

/** The real server's limits for the steps of a run and for the size of an answer. */
const STEPS_MAX = 1_000;
const ANSWER_BYTES_MAX = 4 * 1_024 * 1_024;
const UNREACHABLE = "the app could not be reached";

export type PlayerOptions = {
  mode: Mode;
  signingKey: string;
  /** Returns the size limit of a run's state in a call. If the state is larger, the SDK has to read it from the API. */
  readStateBytesMax: () => number;
  /** Delay after the first failed attempt if the app names no time; it doubles with every attempt. */
  backoffMs: number;
  chooseDeliveryFault: ChooseDeliveryFault;
  /** Returns the function's URL, and the server's own id for the function. */
  locate: (functionId: string) => { url: string; uuid: string };
  /** Called with the events that the server itself creates. */
  emit: (event: EngineEvent) => void;
};

/** The runs and the queue of a stand-in, in memory. */
export type Player = {
  options: PlayerOptions;
  runs: Map<string, StandInRun>;
  items: Map<string, QueueItem>;
  timers: Set<NodeJS.Timeout>;
  /** Calls in progress. */
  pending: Set<Promise<unknown>>;
  /** Errors of the stand-in itself, and violations of the protocol. */
  faults: unknown[];
  isClosed: boolean;
};

/** Creates a player. It plays runs as the server does: each item of its queue is a signed HTTP call to the app. */
export const createPlayer = (options: PlayerOptions): Player => ({
  options,
  runs: new Map(),
  items: new Map(),
  timers: new Set(),
  pending: new Set(),
  faults: [],
  isClosed: false,
});

export function startRun(player: Player, fn: RegisteredFunction, event: EngineEvent): void {
  const run: StandInRun = {
    id: randomUUID(),
    fn,
    event,
    startedAtMs: Date.now(),
    state: "running" as const,
    steps: new Map(),
    begun: new Set<string>(),
    waits: new Map(),
    isParallel: false,
    calls: 0,
  };
  player.runs.set(run.id, run);
  enqueue(player, run);
}

export function cancelRun(run: StandInRun): void {
  if (isOpen(run)) run.state = "cancelled";
}

/** Ends the waits that an event satisfies. */
export function satisfyWaits(player: Player, event: EngineEvent): void {
  for (const run of player.runs.values())
    for (const [stepId, wait] of run.waits)
      if (wait.eventName === event.name && wait.matches(event)) wake(player, run, stepId, { data: event });
}

/** Cancels every open run, like a restarted server that had its runs only in memory. */
export function forgetRuns(player: Player): void {
  for (const run of player.runs.values()) cancelRun(run);
}

/** Cancels the timers and waits for the calls in progress. */
export async function closePlayer(player: Player): Promise<void> {
  player.isClosed = true;
  for (const timer of player.timers) clearTimeout(timer);
  await Promise.allSettled(player.pending);
}

function track(player: Player, work: Promise<unknown>) {
  const tracked = work
    .catch((error: unknown) => player.faults.push(error))
    .finally(() => player.pending.delete(tracked));
  player.pending.add(tracked);
}

function later(player: Player, dueAtMs: number, act: () => void) {
  const timer = setTimeout(
    () => {
      player.timers.delete(timer);
      act();
    },
    Math.max(0, dueAtMs - Date.now()),
  );
  player.timers.add(timer);
}

function enqueue(player: Player, run: StandInRun, stepId?: string) {
  const item: QueueItem = { run, stepId, attempt: 0, ticket: newTicket(1) };
  player.items.set(item.ticket.itemId, item);
  track(player, process(player, item));
}

async function process(player: Player, item: QueueItem): Promise<void> {
  const { run } = item;
  if (player.isClosed || !isOpen(run)) return;
  const answer = await deliver(player, item);
  if (player.isClosed || !isOpen(run)) return;
  handle(player, item, answer);
}

/** Makes the call of a queue item. If the test has chosen a deliveryFault for this call, the deliveryFault happens. */
async function deliver(player: Player, item: QueueItem): Promise<Answer> {
  const { run, ticket, stepId, attempt } = item;
  run.calls++;
  const { url, uuid: functionUuid } = player.options.locate(run.fn.id);
  const { maxAttempts } = run.fn;
  const state = { runId: run.id, event: run.event, steps: run.steps, isPlanOnly: run.isParallel };
  const call: Call = { url, functionUuid, ...state, stepId, attempt, maxAttempts, ticket };
  const whole = composeBody(call, player.options.mode, false);
  const body =
    whole.length > player.options.readStateBytesMax() ? composeBody(call, player.options.mode, true) : whole;
  const send = () => callApp(call, body, player.options.signingKey);
  const view = { functionId: run.fn.id, runId: run.id, number: run.calls, attempt, data: run.event.data };
  const deliveryFault = player.options.chooseDeliveryFault(view);
  const failed = { kind: "failed", error: UNREACHABLE, isFinal: false, retryAtMs: undefined } as const;
  switch (deliveryFault?.kind) {
    case undefined:
      return send();
    case "refused":
      return failed;
    case "answer-lost":
      await send();
      return send();
    case "twice": {
      const both = [send(), send()];
      for (const each of both) track(player, each);
      return Promise.race(both);
    }
    case "given-up": {
      const sent = send();
      track(player, sent);
      return Promise.race([sent, deliveryFault.after.then(() => failed)]);
    }
  }
}

function handle(player: Player, item: QueueItem, answer: Answer) {
  const { run } = item;
  if (answer.kind === "completed") return complete(run, answer.output);
  if (answer.kind === "failed") {
    if (answer.isFinal || item.attempt + 1 >= run.fn.maxAttempts) return fail(player, run, answer.error);
    return retry(player, item, answer.retryAtMs);
  }
  if (JSON.stringify(answer.ops).length > ANSWER_BYTES_MAX) return fail(player, run, "output too large");
  const planned = answer.ops.filter(({ op }) => op === "StepPlanned");
  run.isParallel ||= planned.length > 1;
  let canContinue = false;
  for (const op of answer.ops) canContinue = handleOp(player, item, op, answer.retryAtMs) || canContinue;
  if (run.steps.size > STEPS_MAX) return fail(player, run, "the run has too many steps");
  if (canContinue && isOpen(run)) enqueue(player, run);
}

/** Applies one operation of an answer. @returns whether the function can continue now. */
function handleOp(player: Player, item: QueueItem, op: Op, retryAtMs: number | undefined): boolean {
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
        retry(player, item, retryAtMs);
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
      if (begin(run, op.id)) enqueue(player, run, op.id);
      return false;
    case "Sleep":
      if (begin(run, op.id))
        later(player, parseDueTime(op.name, Date.now()), () => wake(player, run, op.id, null));
      return false;
    case "WaitForEvent":
      if (begin(run, op.id)) wait(player, run, op);
      return false;
    case "InvokeFunction":
      throw new Error("The stand-in plays no step.invoke.");
  }
}

/** Marks a step as begun. @returns false if the step is already planned, waiting or ended. */
function begin(run: StandInRun, stepId: string): boolean {
  const isNew = !run.begun.has(stepId) && !run.steps.has(stepId);
  run.begun.add(stepId);
  return isNew;
}

function wait(player: Player, run: StandInRun, op: Extract<Op, { op: "WaitForEvent" }>) {
  const expression = op.opts.if === undefined ? undefined : compileExpression(op.opts.if);
  const matches = (event: EngineEvent) =>
    expression === undefined || expression({ event: run.event, async: event }) === true;
  run.waits.set(op.id, { eventName: op.name, matches });
  later(player, parseDueTime(op.opts.timeout, Date.now()), () => wake(player, run, op.id, null));
}

/** Ends a sleep or a wait with its result, and continues the run. */
function wake(player: Player, run: StandInRun, stepId: string, value: unknown) {
  run.waits.delete(stepId);
  if (!isOpen(run) || run.steps.has(stepId)) return;
  recordStep(run, stepId, value);
  enqueue(player, run);
}

/** Queues the item for its next attempt. Its new ticket invalidates a call of the previous attempt that is still running. */
function retry(player: Player, item: QueueItem, atMs: number | undefined) {
  const delayMs = player.options.backoffMs * 2 ** item.attempt++;
  item.ticket = newTicket(item.ticket.generation + 1, item.ticket.itemId);
  later(player, atMs ?? Date.now() + delayMs, () => track(player, process(player, item)));
}

function complete(run: StandInRun, output: unknown) {
  run.state = "completed";
  run.output = output;
}

function fail(player: Player, run: StandInRun, error: unknown) {
  run.state = "failed";
  run.error = error;
  const { fn, id: runId, event } = run;
  const data = { function_id: fn.id, run_id: runId, error, event };
  player.options.emit({ id: randomUUID(), name: INTERNAL_EVENTS.failed, data, ts: Date.now() });
}
