import type { EngineStore } from "./engine-store/engine-store.ts";
import { parseJson } from "./parse-json.ts";
import {
  checkpointBodySchema,
  type EngineEvent,
  type FunctionConfig,
  registerBodySchema,
  sendEventBodySchema,
} from "./protocol.ts";
import { toEvents } from "./triggers/receive-events.ts";

type EngineApiDeps = {
  store: Pick<EngineStore, "commit" | "recordStep">;
  /** The engine's clock. */
  now: () => number;
  /** False before the start and after the stop: events are refused. */
  isRunning: () => boolean;
  /** True from the beginning of the stop: calls in progress end after their current step. */
  isStopping: () => boolean;
  register: (functions: FunctionConfig[]) => void;
  /** Resolves when the events and the runs they start are stored. */
  receive: (events: EngineEvent[]) => Promise<void>;
};

const json = (body: unknown, status = 200) => Response.json(body, { status });
// The SDK reads only the status of an answer to a checkpoint, so one response of each kind is enough.
const RECORDED = new Response(null, { status: 200 });
const STALE = new Response(null, { status: 409 });

/**
 * The Inngest server's API as far as the SDK calls it: register functions, send events, record checkpoints. It is the
 * SDK's `fetch`. The SDK passes a URL and a text, so no request object is made.
 */
export function createEngineApi(deps: EngineApiDeps): typeof fetch {
  return async (input, init = {}) => {
    if (input instanceof Request || typeof init.body !== "string") return json({ error: "not found" }, 404);
    const { pathname } = new URL(input);
    const body = parseJson(init.body);
    if (pathname.startsWith("/e/"))
      return sendEvents(deps, body, new Headers(init.headers).get("x-inngest-event-id-seed"));
    const runId = /^\/v1\/checkpoint\/([^/]+)\/async$/.exec(pathname)?.[1];
    if (runId) return checkpoint(deps, decodeURIComponent(runId), body);
    return pathname === "/fn/register" ? register(deps, body) : json({ error: "not found" }, 404);
  };
}

function register(deps: EngineApiDeps, body: unknown): Response {
  const parsed = registerBodySchema.safeParse(body);
  if (!parsed.success) return json({ status: 400, error: parsed.error.message }, 400);
  deps.register(parsed.data.functions);
  return json({ status: 200, modified: true });
}

async function sendEvents(deps: EngineApiDeps, body: unknown, seed: string | null): Promise<Response> {
  if (!deps.isRunning()) return json({ ids: [], status: 503, error: "The engine is not running" }, 503);
  const parsed = sendEventBodySchema.safeParse(body);
  if (!parsed.success) return json({ ids: [], status: 400, error: "Cannot process event payload" }, 400);
  const payloads = Array.isArray(parsed.data) ? parsed.data : [parsed.data];
  const events = toEvents(payloads, seed, deps.now());
  await deps.receive(events);
  return json({ ids: events.map(({ id }) => id), status: 200 });
}

/** Answers 409, which ends the call, when the run has another executor, has ended, or the engine is stopping. */
async function checkpoint(deps: EngineApiDeps, runId: string, body: unknown): Promise<Response> {
  if (!deps.isRunning()) return STALE;
  const outcome = await recordCheckpoint(deps.store, runId, body);
  if (outcome === "malformed") return json({ error: "malformed checkpoint" }, 400);
  // While stopping, the steps are recorded first and the call is refused afterwards, so that it ends between two steps.
  return outcome === "recorded" && !deps.isStopping() ? RECORDED : STALE;
}

/**
 * Records the steps that a call has finished, before the SDK runs the next one. The SDK sends them one by one, or as
 * many together as the client's `bufferedSteps`. The ticket (`run:epoch`) is the one the call was given.
 */
async function recordCheckpoint(
  store: EngineApiDeps["store"],
  runId: string,
  body: unknown,
): Promise<"recorded" | "stale" | "malformed"> {
  const parsed = checkpointBodySchema.safeParse(body);
  if (!parsed.success || parsed.data.run_id !== runId) return "malformed";
  const epoch = Number(parsed.data.qi_id.slice(parsed.data.qi_id.lastIndexOf(":") + 1));
  if (!Number.isInteger(epoch)) return "malformed";
  const fence = { runId, epoch };
  const steps = parsed.data.steps.map((op) => ({
    stepId: op.id,
    name: op.displayName ?? op.name ?? op.id,
    output: op.data ?? null,
  }));
  const [first] = steps;
  const isHeld =
    first && steps.length === 1
      ? await store.recordStep(fence, first)
      : (await store.commit({ fence, steps: steps.map((step) => ({ ...step, state: "done" })) })).held;
  return isHeld ? "recorded" : "stale";
}
