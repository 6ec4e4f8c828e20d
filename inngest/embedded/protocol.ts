import { z } from "zod";

/** Text that is not empty and that Postgres can store in a column. */
const label = z
  .string()
  .min(1)
  .refine((text) => !text.includes("\0"), "must not contain NUL");

/** An event as it is stored and passed to a function. */
const eventSchema = z.looseObject({
  id: label,
  name: label,
  data: z.record(z.string(), z.unknown()),
  ts: z.number(),
});
export type EngineEvent = z.infer<typeof eventSchema>;

const eventPayloadSchema = eventSchema.extend({
  id: label.or(z.literal("")).nullish(),
  data: z.record(z.string(), z.unknown()).nullish(),
  ts: z.number().nullish(),
});

/** Body of `POST /e/:key`: one event or a list. */
export const sendEventBodySchema = z.union([z.array(eventPayloadSchema), eventPayloadSchema]);
export type EventPayload = z.infer<typeof eventPayloadSchema>;

const opBase = {
  id: z.string().min(1),
  name: z.string().nullish(),
  displayName: z.string().nullish(),
};
const ended = { ...opBase, data: z.unknown() };
const failedOp = { ...opBase, error: z.unknown() };
const planned = z.looseObject({ ...opBase, op: z.literal("StepPlanned") });
const stepRun = z.looseObject({ ...ended, op: z.enum(["StepRun", "Step"]) });
const stepError = z.looseObject({ ...failedOp, op: z.literal("StepError") });
const stepFailed = z.looseObject({ ...failedOp, op: z.literal("StepFailed") });
const runComplete = z.looseObject({ ...ended, op: z.literal("RunComplete") });
const discovery = z.looseObject({ ...opBase, op: z.literal("DiscoveryRequest") });
const sleep = z.looseObject({ ...opBase, op: z.literal("Sleep"), name: z.string() });
const waitForEvent = z.looseObject({
  ...opBase,
  op: z.literal("WaitForEvent"),
  name: z.string().min(1),
  opts: z.looseObject({ timeout: z.string(), if: z.string().optional() }),
});
const invokeFunction = z.looseObject({
  ...opBase,
  op: z.literal("InvokeFunction"),
  opts: z.looseObject({
    function_id: z.string().min(1),
    payload: z.looseObject({ data: z.record(z.string(), z.unknown()).optional() }).optional(),
    timeout: z.string().optional(),
  }),
});

/** The operations that this engine supports in an answer of the SDK (status 206). */
const opSchema = z.discriminatedUnion("op", [
  planned,
  stepRun,
  stepError,
  stepFailed,
  runComplete,
  discovery,
  sleep,
  waitForEvent,
  invokeFunction,
]);
export type Op = z.infer<typeof opSchema>;
export const opsSchema = z.array(opSchema);

/**
 * Body of `POST /v1/checkpoint/:run/async`. `qi_id` is the ticket (`run:epoch`) that this engine passed with the call.
 */
export const checkpointBodySchema = z.looseObject({
  run_id: z.string().min(1),
  qi_id: z.string().min(1),
  steps: z.array(stepRun),
});

/** An option that this engine does not support: a function that sets it is refused at the start. */
const absent = z.undefined().or(z.null());

/** A function as the SDK registers it (`POST /fn/register`). */
const functionConfigSchema = z.object({
  id: z.string().min(1),
  triggers: z.array(
    z.union([
      z.object({ cron: z.string(), jitter: absent.optional() }),
      z.object({ event: z.string(), expression: z.string().nullish() }),
    ]),
  ),
  steps: z.object({ step: z.object({ retries: z.object({ attempts: z.number().int().min(0) }).nullish() }) }),
  cancel: z
    .array(z.object({ event: z.string(), if: z.string().nullish(), timeout: z.string().nullish() }))
    .nullish(),
  idempotency: z.string().nullish(),
  concurrency: z
    .union([
      z.number().int(),
      z.object({ limit: z.number().int(), key: z.string().nullish() }),
      z.array(z.object({ limit: z.number().int(), key: z.string().nullish() })),
    ])
    .nullish(),
  batchEvents: absent.optional(),
  rateLimit: absent.optional(),
  throttle: absent.optional(),
  debounce: absent.optional(),
  timeouts: absent.optional(),
  singleton: absent.optional(),
  priority: absent.optional(),
});
export type FunctionConfig = z.infer<typeof functionConfigSchema>;
export const registerBodySchema = z.looseObject({ functions: z.array(functionConfigSchema) });

/** Names of the events that the engine itself creates. */
export const INTERNAL_EVENTS = {
  failed: "inngest/function.failed",
  invoked: "inngest/function.invoked",
  timer: "inngest/scheduled.timer",
} as const;

/** An error in the form in which the engine and the SDK exchange it. */
export type SerializedError = { name: string; message: string; stack?: string | undefined; cause?: unknown };

const errorSchema = z.looseObject({
  name: z.string().optional(),
  message: z.string().optional(),
  error: z.string().optional(),
  stack: z.string().optional(),
});

/**
 * Greatest lengths of a stored error, in characters. The message of a failed statement contains its parameters, which
 * may be megabytes of a tool's result.
 */
const MESSAGE_CHARS_MAX = 4_096;
const STACK_CHARS_MAX = 8_192;
const DETAILS_CHARS_MAX = 8_192;

const cut = (text: string, max: number) =>
  text.length > max ? `${text.slice(0, max)}… (cut: ${text.length} characters in all)` : text;

/**
 * Converts the error of an answer into the shape that the SDK reads. Long texts are cut, and large details, such as a
 * cause, are left out.
 */
export function toSerializedError(value: unknown): SerializedError {
  const parsed = errorSchema.safeParse(value);
  if (!parsed.success) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return { name: "Error", message: cut(String(text), MESSAGE_CHARS_MAX) };
  }
  const { name, message, error, stack, ...details } = parsed.data;
  // The SDK recognizes its own errors by the field `__serialized`.
  const isLarge = JSON.stringify(details).length > DETAILS_CHARS_MAX;
  return {
    ...(isLarge ? { __serialized: true } : details),
    ...(stack !== undefined && { stack: cut(stack, STACK_CHARS_MAX) }),
    name: cut(name || "Error", MESSAGE_CHARS_MAX),
    message: cut(message || error || "Unknown error", MESSAGE_CHARS_MAX),
  };
}

const UNITS = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const;

/**
 * Parses the end of a wait and returns it in ms since the epoch. The SDK sends it as a duration (`1d2h30m`; empty for
 * no wait) or as an ISO date.
 *
 * @throws for any other text.
 */
export function parseDueTime(value: string, nowMs: number): number {
  if (value === "") return nowMs;
  if (/^(\d+[wdhms])+$/.test(value)) {
    let total = 0;
    for (const [, count, unit] of value.matchAll(/(\d+)([wdhms])/g))
      total += Number(count) * UNITS[unit as keyof typeof UNITS];
    return nowMs + total;
  }
  const date = Date.parse(value);
  if (Number.isNaN(date)) throw new Error(`"${value}" is neither a duration nor a date.`);
  return date;
}

/** Converts a `retry-after` header (seconds or a date) to ms since the epoch; undefined if it is missing or invalid. */
export function parseRetryAfter(value: string | null | undefined, nowMs: number): number | undefined {
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return nowMs + seconds * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : date;
}
