import { type DevtoolsMessage, SERVER_ERROR } from "#lib/browser/process/devtools-connection.ts";
import { errorText } from "#lib/text/error-text.ts";
import { answerForPending } from "./answer-for-pending.ts";
import type { HasId } from "./param-rules.ts";
import { describeFailure, showTarget } from "./relay-events.ts";
import { addWorld } from "./relay-refs.ts";
import { admitCommand, type RelayVerdict } from "./relay-rules.ts";
import {
  type Contexts,
  guard,
  type PageRelayOptions,
  type Relay,
  terminateWhenQuiet,
} from "./relay-state.ts";
import { readRecord } from "./shown-ids.ts";

type Fields = Record<string, unknown>;

/** Commands that the browser has not answered: how many, and their size. Beyond it, the script's next message waits. */
const OPEN_COMMANDS_MAX = 5_000;
const OPEN_BYTES_MAX = 32 * 2 ** 20;

/**
 * A command of the script. `contexts` are the execution contexts of the DevTools session that the command addresses.
 * They are undefined if the command addresses the browser as a whole, or a session that the script may not use.
 */
type ScriptCommand = {
  id: number;
  method: string;
  params: Fields;
  bytes: number;
  address: { sessionId?: string };
  contexts: Contexts | undefined;
};

/** Waits until the browser has answered enough of the script's commands. */
export async function untilLessIsOpen({ open }: Relay): Promise<void> {
  while (open.commands > OPEN_COMMANDS_MAX || open.bytes > OPEN_BYTES_MAX)
    await new Promise<void>((resolve) => {
      open.onLess = resolve;
    });
}

/** Reads a message of the script, and forwards, answers or refuses its command. */
export function receiveCommand(relay: Relay, message: unknown, bytes: number): void {
  const { options, sessions, open } = relay;
  const { id, method, sessionId, params } = readRecord(message);
  if (relay.isClosing || typeof id !== "number" || typeof method !== "string") return;
  const address = typeof sessionId === "string" ? { sessionId } : {};
  const contexts = typeof sessionId === "string" ? sessions.get(sessionId) : undefined;
  const command: ScriptCommand = { id, method, params: readRecord(params), bytes, address, contexts };
  const isSessionKnown = sessionId === undefined || contexts !== undefined;
  const judged = isSessionKnown ? admit(relay, command) : refusal("No such session.");
  const reply = (answer: Pick<DevtoolsMessage, "result" | "error">) =>
    guard(relay, () => options.toScript({ id, ...address, ...answer }));
  const refuse = (reason: string) => reply({ error: { code: SERVER_ERROR, message: reason } });
  if (judged.verdict === "refuse") {
    refuse(judged.reason);
    return;
  }

  const allowed = { ...command, params: judged.params };
  open.commands += 1;
  open.bytes += bytes;
  const onAnswer = () => {
    open.commands -= 1;
    open.bytes -= bytes;
    open.onLess();
  };
  if (judged.verdict === "forward") forward(relay, allowed, onAnswer);
  else
    answerLocally(relay, allowed)
      .then(
        (result) => reply({ result }),
        (error) => refuse(errorText(error)),
      )
      .finally(onAnswer);
}

/**
 * Decides about a command. Applies `admitCommand`, which checks the command's ids against what the script was shown.
 */
function admit(relay: Relay, { method, params, address, contexts }: ScriptCommand): RelayVerdict {
  const judged = admitCommand(contexts ? "target" : "browser", method, params, (kind, id) =>
    hasId(relay, { kind, id, contexts, sessionId: address.sessionId ?? "" }),
  );
  return judged.verdict !== "forward" || relay.socket.isOpen() ? judged : refusal("The browser is gone.");
}

/** Whether the browser has shown an id to the script: in this DevTools session, if the id counts only there. */
function hasId(
  { sessions, targets, ids }: Relay,
  asked: {
    kind: Parameters<HasId>[0];
    id: string | number;
    contexts: Contexts | undefined;
    sessionId: string;
  },
): boolean {
  const { kind, id, contexts, sessionId } = asked;
  switch (kind) {
    case "context":
      return contexts?.has(Number(id)) ?? false;
    case "object": {
      // V8 names an object by its isolate, its context and a number.
      const contextId = /^-?\d+\.(\d+)\.\d+$/.exec(String(id))?.[1];
      return contextId !== undefined && (contexts?.has(Number(contextId)) ?? false);
    }
    case "session":
      return sessions.has(String(id));
    case "target":
      return targets.has(String(id));
    default:
      return ids.has(kind, id, sessionId);
  }
}

const refusal = (reason: string): RelayVerdict => ({ verdict: "refuse", reason });

/**
 * Executes a command to the browser as a whole, limited to the session's pages. @throws Error with a readable message.
 */
async function answerLocally(relay: Relay, { method, params }: ScriptCommand): Promise<Fields> {
  const { socket, targets, pageInfo } = relay;
  switch (method) {
    case "Target.setAutoAttach":
      if (relay.isAttached) return {};
      relay.isAttached = true;
      await showTarget(relay, relay.pageInfo);
      return {};
    case "Target.getTargetInfo":
      return { targetInfo: { targetId: "browser", type: "browser", title: "", url: "", attached: true } };
    case "Target.createTarget": {
      const { browserContextId } = pageInfo;
      const { targetId } = await socket.ask(method, { url: "about:blank", browserContextId });
      // Playwright must see the page before it gets the answer to this command.
      await showTarget(relay, { targetId, type: "page", title: "", url: "about:blank", browserContextId });
      return { targetId };
    }
    case "Target.closeTarget":
      if (targets.size === 1) throw new Error("This is the last page of the session; it stays open.");
      return socket.ask(method, { targetId: params.targetId });
    default:
      return socket.ask(method, { sessionId: params.sessionId });
  }
}

function forward(
  relay: Relay,
  { id, method, params, address, contexts }: ScriptCommand,
  onAnswer: () => void,
): void {
  const { options, socket, ids, pageInfo } = relay;
  const { sessionId = "" } = address;
  const front = method === "Page.bringToFront" && relay.pageOf.get(sessionId);
  if (front) options.onFront?.(front);
  if (contexts && method === "Emulation.setDeviceMetricsOverride") relay.isResized = true;
  const isInput = method.startsWith("Input.");
  if (isInput) {
    relay.pendingInputs += 1;
    reportInput(method, params, options.onInput);
  }
  // The script's storage commands concern the browser context of its session only.
  const scope = method.startsWith("Storage.") ? { browserContextId: pageInfo.browserContextId } : {};
  const early = answerForPending(relay, method, sessionId);
  if (early) {
    ids.recordAnswer(method, early, sessionId);
    options.toScript({ ...address, id, result: early });
  }
  socket.send({ method, params: { ...params, ...scope }, ...address }, (answer) => {
    onAnswer();
    if (early) return;
    if (isInput) relay.pendingInputs -= 1;
    terminateWhenQuiet(relay);
    guard(relay, () => {
      const { result } = answer;
      if (result) ids.recordAnswer(method, result, sessionId);
      if (result && contexts && method === "Page.createIsolatedWorld") {
        const id = Number(result.executionContextId);
        addWorld(relay, { sessionId, id, frameId: String(params.frameId) });
      }
      if (result && method === "Page.navigate") describeFailure(options, result, result.loaderId);
      options.toScript({ ...address, ...answer, id });
    });
  });
}

/**
 * Reports mouse moves, mouse presses, and input that is not from a mouse. Does not report mouse releases and wheel
 * turns.
 */
function reportInput(
  method: string,
  { type, x, y }: Fields,
  onInput: PageRelayOptions["onInput"] = () => {},
): void {
  if (method !== "Input.dispatchMouseEvent") {
    onInput(undefined);
    return;
  }
  const kind = type === "mousePressed" ? "down" : type === "mouseMoved" ? "move" : undefined;
  if (kind && typeof x === "number" && typeof y === "number") onInput({ kind, x, y });
}
