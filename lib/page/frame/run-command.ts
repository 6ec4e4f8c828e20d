import type { FrameMessage, HostCommand } from "#lib/client/frame-messages.ts";
import type { LiveConnection } from "#lib/client/live-connection.ts";
import type { SessionActions } from "../actions/session-actions.ts";
import type { SessionStore } from "../state/page-store.ts";
import type { SessionState } from "../state/session-state.ts";

type CommandDeps = {
  store: Pick<SessionStore, "getState" | "subscribe" | "addAcceptedMessage" | "forgetControlLoss">;
  actions: Pick<SessionActions, "sendHostMessage">;
  live: Pick<LiveConnection, "send">;
};

type Result = Extract<FrameMessage, { type: "result" }>;

const CONTROL_WITHIN_MS = 15_000;

/** Runs a command of the host page. Never throws: a failure is a sentence in the result. */
export async function runCommand(deps: CommandDeps, command: HostCommand): Promise<Result> {
  const { id, type } = command;
  const done = (accepted: Extract<Result, { isDone: true }>["accepted"] = null): Result => ({
    type: "result",
    id,
    isDone: true,
    accepted,
  });
  const fail = (error: string): Result => ({ type: "result", id, isDone: false, error });
  const { store, actions, live } = deps;
  const { role, session } = store.getState();
  if (role !== "drive") return fail(`this share link may ${role}, not drive`);
  if (type === "send") {
    const { text, mode = "queue" } = command;
    const outcome = await actions.sendHostMessage(text, mode, id);
    if (!outcome.isDone) return fail(outcome.error);
    const { requestId, runId, queued } = outcome.answer;
    const createdAt = new Date().toISOString();
    store.addAcceptedMessage(
      { requestId, mode, text, attachments: [], annotations: [], author: null, createdAt },
      runId,
    );
    return done({ requestId, runId, queued });
  }
  if (!session.hasBrowser) return fail("this session has no live browser of its own");
  const isReached = ({ control }: SessionState) => (control === "you") === (type === "takeOver");
  if (isReached(store.getState())) return done();
  // Forgets the problem of an earlier wish, which must not be taken for the answer to this one.
  store.forgetControlLoss();
  const isSent = live.send(
    type === "takeOver" ? { type: "control.take" } : { type: "control.release", note: command.note ?? "" },
  );
  if (!isSent) return fail("the frame is not connected to the service at this moment");
  const problem = await waitForControl(store, isReached);
  return problem === null ? done() : fail(problem);
}

/** Waits until control has changed. @returns why it did not; null if it did. */
function waitForControl(
  store: Pick<SessionStore, "getState" | "subscribe">,
  isReached: (state: SessionState) => boolean,
): Promise<string | null> {
  return new Promise((resolve) => {
    const end = (problem: string | null) => {
      clearTimeout(timer);
      unsubscribe();
      resolve(problem);
    };
    const timer = setTimeout(() => end("the service did not answer in time"), CONTROL_WITHIN_MS);
    const unsubscribe = store.subscribe(() => {
      const state = store.getState();
      if (isReached(state)) end(null);
      else if (state.controlProblem !== null) end(state.controlProblem);
    });
  });
}
