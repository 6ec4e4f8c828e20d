import { randomUUID } from "node:crypto";
import type { NewRun } from "../engine-store/engine-store.ts";
import { type EngineEvent, type FunctionConfig, INTERNAL_EVENTS, parseDueTime } from "../protocol.ts";
import { type CronSchedule, parseCron } from "./cron.ts";
import { compileExpression, type Expression, type ExpressionScope } from "./expression.ts";

/** The default of an Inngest server: four retries, so five attempts in all. */
const DEFAULT_RETRIES = 4;

type EventRule = { eventName: string; matches: (scope: ExpressionScope) => boolean };

/** A registered function with its compiled rules. */
export type RegisteredFunction = {
  id: string;
  triggers: EventRule[];
  crons: { expression: string; schedule: CronSchedule }[];
  /** Events that cancel runs of the function. `timeout`: how long after its start a run can be cancelled, such as `1h`. */
  cancelledBy: (EventRule & { timeout: string | undefined })[];
  maxAttempts: number;
  idempotencyKey: Expression | undefined;
  concurrency: { limit: number; key: Expression | undefined }[];
};

/** Finds the functions of this process by id, and by the events that start or cancel their runs. */
export type Registry = {
  find: (functionId: string) => RegisteredFunction | undefined;
  all: () => RegisteredFunction[];
  /** Plans the runs that an event starts. */
  planRuns: (event: EngineEvent) => NewRun[];
  /** Returns the functions whose runs can be cancelled by an event of this name. */
  cancellableBy: (eventName: string) => RegisteredFunction[];
};

function toRule(eventName: string, expression: string | null | undefined): EventRule {
  if (!expression) return { eventName, matches: () => true };
  const compiled = compileExpression(expression);
  return { eventName, matches: (scope) => compiled(scope) === true };
}

/** Whether an event's name matches a rule. A rule's name with a trailing `*` matches every event with that prefix. */
const isNamed = (rule: EventRule, name: string) =>
  rule.eventName === name || (rule.eventName.endsWith("*") && name.startsWith(rule.eventName.slice(0, -1)));

function toFunction(config: FunctionConfig): RegisteredFunction {
  const { concurrency } = config;
  const limits = Array.isArray(concurrency) ? concurrency : concurrency ? [concurrency] : [];
  return {
    id: config.id,
    triggers: config.triggers.flatMap((trigger) =>
      "event" in trigger ? [toRule(trigger.event, trigger.expression)] : [],
    ),
    crons: config.triggers.flatMap((trigger) =>
      "cron" in trigger ? [{ expression: trigger.cron, schedule: parseCron(trigger.cron) }] : [],
    ),
    cancelledBy: (config.cancel ?? []).map((rule) => ({
      ...toRule(rule.event, rule.if),
      timeout: rule.timeout ?? undefined,
    })),
    maxAttempts: (config.steps.step.retries?.attempts ?? DEFAULT_RETRIES) + 1,
    idempotencyKey: config.idempotency ? compileExpression(config.idempotency) : undefined,
    concurrency: limits.map((limit) =>
      typeof limit === "number"
        ? { limit, key: undefined }
        : { limit: limit.limit, key: limit.key ? compileExpression(limit.key) : undefined },
    ),
  };
}

/** Whether an event cancels a run that began with `startedBy` at `startedAtMs`. */
export function cancelsRun(
  fn: RegisteredFunction,
  event: EngineEvent,
  startedBy: EngineEvent,
  startedAtMs: number,
  nowMs: number,
): boolean {
  return fn.cancelledBy.some(
    (rule) =>
      isNamed(rule, event.name) &&
      (rule.timeout === undefined || nowMs <= parseDueTime(rule.timeout, startedAtMs)) &&
      rule.matches({ event: startedBy, async: event }),
  );
}

/**
 * Creates the registry. Compiles all expressions and cron schedules once, instead of for every event.
 *
 * @throws for an expression or a cron schedule that this engine does not support.
 */
export function createRegistry(configs: FunctionConfig[]): Registry {
  const functions = new Map(configs.map((config) => [config.id, toFunction(config)]));

  function toRun(fn: RegisteredFunction, event: EngineEvent): NewRun {
    const key = fn.idempotencyKey?.({ event });
    const run: NewRun = { id: randomUUID(), functionId: fn.id, eventId: event.id };
    return key === undefined || key === null ? run : { ...run, idempotencyKey: JSON.stringify(key) };
  }

  return {
    find: (functionId) => functions.get(functionId),
    all: () => [...functions.values()],
    planRuns: (event) =>
      event.name === INTERNAL_EVENTS.timer || event.name === INTERNAL_EVENTS.invoked
        ? []
        : [...functions.values()]
            .filter((fn) => fn.triggers.some((rule) => isNamed(rule, event.name) && rule.matches({ event })))
            .map((fn) => toRun(fn, event)),
    cancellableBy: (eventName) =>
      [...functions.values()].filter((fn) => fn.cancelledBy.some((rule) => isNamed(rule, eventName))),
  };
}
