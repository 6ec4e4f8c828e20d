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
  /** False before the start and after the stop. The API then refuses events and checkpoints. */
  isRunning: () => boolean;
  /** True as soon as the stop begins. Calls in progress then end after their current step. */
  isStopping: () => boolean;
  register: (functions: FunctionConfig[]) => void;
  /** Resolves when the events and the runs they start are stored. */
  receive: (events: EngineEvent[]) => Promise<void>;
};

const json = (body: unknown, status = 200) => Response.json(body, { status });
// The SDK reads only the status of an answer to a checkpoint, so all answers of the same kind share one response.
const RECORDED = new Response(null, { status: 200 });
const STALE = new Response(null, { status: 409 });

/**
 * Creates the `fetch` that the SDK uses. It implements the part of the Inngest server's API that the SDK calls:
 * register functions, send events, record checkpoints. The SDK passes a URL and a text body; a `Request` object is
 * answered with 404.
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

/**
 * Records a checkpoint. Answers 409 if another executor has claimed the run, if the run has ended, or if the engine is
 * stopping or not running. A 409 makes the SDK end the function call that sent the checkpoint.
 */
async function checkpoint(deps: EngineApiDeps, runId: string, body: unknown): Promise<Response> {
  if (!deps.isRunning()) return STALE;
  const outcome = await recordCheckpoint(deps.store, runId, body);
  if (outcome === "malformed") return json({ error: "malformed checkpoint" }, 400);
  // A stopping engine records the steps and then answers 409, so that the call ends between two steps.
  return outcome === "recorded" && !deps.isStopping() ? RECORDED : STALE;
}

/**
 * Records the steps that a call has finished, before the SDK runs the next step. The SDK sends one step at a time, or
 * up to the client's `bufferedSteps` together. `qi_id` is the ticket (`run:epoch`) that the engine passed to the call.
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
