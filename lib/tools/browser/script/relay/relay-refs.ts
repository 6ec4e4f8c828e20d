import { addContext, type FoundNode, type Relay } from "./relay-state.ts";
import { readRecord } from "./shown-ids.ts";

type Fields = Record<string, unknown>;

/** How many refs are installed again in new worlds; the oldest are forgotten. */
const REFS_MAX = 1_000;

/**
 * Runs `work` after all work that was queued earlier. `relay.gate` is the end of that queue; it is undefined when the
 * queue is empty.
 */
export function passGate(relay: Relay, work: () => unknown): void {
  const gate: Promise<void> = (relay.gate ?? Promise.resolve())
    .then(work)
    .catch(relay.options.onBroken)
    .then(() => {
      if (relay.gate === gate) relay.gate = undefined;
    });
  relay.gate = gate;
}

/** An isolated world (JavaScript execution context) that the script's Playwright uses in a frame. */
type World = { sessionId: string; id: number; frameId: string };

/** Makes the element of a ref available in the worlds of Playwright that its frame has now. */
export async function installRef(
  relay: Relay,
  ref: string,
  find: () => Promise<FoundNode | undefined>,
): Promise<void> {
  const found = await find();
  if (!found) return;
  relay.refs.delete(ref);
  relay.refs.set(ref, found);
  const [oldest] = relay.refs.keys();
  if (relay.refs.size > REFS_MAX && oldest !== undefined) relay.refs.delete(oldest);
  for (const [sessionId, contexts] of relay.sessions)
    for (const [id, frameId] of contexts)
      if (frameId === found.frameId) await putRef(relay, { sessionId, id, frameId }, ref, found);
}

/**
 * Records a world and installs in it the refs of its frame that the script has already used. `installRef` could not
 * install them there, because Playwright had not created the world yet.
 */
export function addWorld(relay: Relay, world: World): void {
  const contexts = relay.sessions.get(world.sessionId);
  if (!contexts || contexts.has(world.id)) return;
  addContext(contexts, world.id, world.frameId);
  for (const [ref, found] of relay.refs) {
    // The error for an element that is gone is ignored here, because the script's locator reports it.
    if (found.frameId === world.frameId)
      passGate(relay, () => putRef(relay, world, ref, found).catch(() => {}));
  }
}

async function putRef(
  { socket }: Relay,
  world: World,
  ref: string,
  { backendNodeId }: FoundNode,
): Promise<void> {
  const { sessionId, id: executionContextId } = world;
  const ask = (method: string, params: Fields) =>
    new Promise<Fields>((resolve, reject) =>
      socket.send({ method, params, sessionId }, ({ result, error }) =>
        error ? reject(new Error(error.message)) : resolve(result ?? {}),
      ),
    );
  const { object } = await ask("DOM.resolveNode", { backendNodeId, executionContextId });
  await ask("Runtime.callFunctionOn", {
    functionDeclaration: "function (ref) { (globalThis.agentSessionRefs ??= new Map()).set(ref, this); }",
    objectId: readRecord(object).objectId,
    arguments: [{ value: ref }],
  });
}
