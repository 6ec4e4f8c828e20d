import type { LiveStatus } from "#lib/client/live-connection.ts";
import { currentRun, isStopping, type SessionState } from "../state/session-state.ts";
import type { Deliverable, RunView } from "../state/view-types.ts";
import { describeTool, worksOnPage } from "./describe-tool.ts";
import { STATE_WORDS, stateOfRun, type Tone } from "./state-words.ts";

/** Runs of one request, the first and its automatic retries. Source: `architecture.md`, How a request flows, 4. */
export const ATTEMPTS_MAX = 5;

/** What the session is doing, as the page says it. */
export type StateWords = {
  tone: Tone;
  /** In a word or two: `Working`. */
  title: string;
  /** What exactly, or why. */
  detail: string | null;
  /** What the reader may do about it. */
  advice: string | null;
  /** ISO time from which the elapsed time is shown. */
  since: string | null;
  /** ISO time to which the remaining time is shown. */
  until: string | null;
};

const words = (tone: StateWords["tone"], title: string, rest: Partial<StateWords> = {}): StateWords => ({
  tone,
  title,
  detail: null,
  advice: null,
  since: null,
  until: null,
  ...rest,
});

const wordsFor = (state: keyof typeof STATE_WORDS, rest?: Partial<StateWords>): StateWords =>
  words(STATE_WORDS[state].tone, STATE_WORDS[state].title, rest);

/** Describes what the session is doing. A lost connection comes first, since everything else may be stale. */
export function describeState(state: SessionState, live: LiveStatus): StateWords {
  return describeConnection(live) ?? describeTurn(state);
}

function describeConnection(live: LiveStatus): StateWords | undefined {
  if (live.state === "reconnecting") {
    return words("attention", "Reconnecting", {
      detail: live.isOverloaded ? "The service is busy." : "The connection was lost.",
      advice: "What you see may be behind. Nothing is lost.",
    });
  }
  if (live.state !== "closed" || live.reason === "left") return undefined;
  const detail = {
    unauthorized: "Your access to this session has ended.",
    forbidden: "This link does not allow watching live.",
    "not found": "This session no longer exists.",
  }[live.reason];
  return words("bad", "Disconnected", { detail, advice: "Open the session’s link again." });
}

function describeTurn(state: SessionState): StateWords {
  const run = currentRun(state);
  if (!run) return wordsFor(state.queue.length > 0 ? "starting" : "ready");
  switch (run.state) {
    case "pending":
      if (run.notBefore === null) return wordsFor("starting");
      return wordsFor("retrying", {
        detail: `attempt ${run.attempt} of ${ATTEMPTS_MAX}`,
        until: run.notBefore,
        advice: errorBefore(state, run),
      });
    case "running":
      if (isStopping(state)) return words("busy", "Stopping", { since: run.startedAt });
      if (state.elicitation) return wordsFor("waiting", { detail: "Answer the question below." });
      if (state.turnState === "compacting")
        return wordsFor("compacting", { detail: "Making room in the context.", since: run.startedAt });
      return wordsFor("working", { detail: describeWork(state, run), since: run.startedAt });
    case "succeeded":
      return describeSuccess(state, run);
    case "cancelled":
      return wordsFor("stopped", { detail: "The turn was stopped.", advice: "Send a message to go on." });
    case "errored":
      return wordsFor("failed", {
        detail: run.error ?? "The run ended with an error.",
        advice: adviseOn(run.error),
      });
  }
}

/** A run can succeed without its result, or without the page that it was to work on. */
function describeSuccess(state: SessionState, run: RunView): StateWords {
  const word = stateOfRun(run, state.deliverables);
  const deliverable = state.deliverables.find(({ runId }) => runId === run.runId);
  if (deliverable?.status === "failed") {
    return wordsFor(word, {
      detail: describeFailedResult(deliverable),
      advice: "Send a message to have the next turn bring a new result.",
    });
  }
  if (run.pageError === null) return wordsFor(word);
  return wordsFor(word, {
    detail: run.pageError,
    advice: "Open the page in the address bar or send a message to try again.",
  });
}

/** The result itself is where each violation is shown. */
function describeFailedResult({ error, violations = [] }: Extract<Deliverable, { status: "failed" }>) {
  if (violations.length === 0) return error;
  return `it breaks the schema at ${violations.length === 1 ? "one place" : `${violations.length} places`}`;
}

function describeWork(state: SessionState, run: RunView): string {
  // Calls of one message are announced together and played in order: the first without a result is at work.
  const call = Object.values(state.toolCalls).find(
    (each) => each.runId === run.runId && each.state === "started",
  );
  if (call && state.browserPosition !== null && worksOnPage(call.toolName))
    return describeBrowserWait(state.browserPosition);
  if (call) return describeTool(call.toolName, null).running;
  const draft = state.drafts.findLast(({ runId }) => runId === run.runId);
  if (draft?.text) return "Writing";
  const isCollecting = state.deliverables.some(
    ({ runId, status }) => runId === run.runId && status === "pending",
  );
  const hasAnswered = state.messages.at(-1)?.role === "assistant" && !endsInCall(state);
  return isCollecting && hasAnswered ? "Writing the structured result" : "Thinking";
}

/** What a session that waits for a browser is waiting for; 1 is next in line. */
export const describeBrowserWait = (position: number): string =>
  `Waiting for a browser, ${position === 1 ? "you are next" : `${position - 1} ahead of you`}`;

const endsInCall = (state: SessionState): boolean =>
  state.messages.at(-1)?.parts.some(({ type }) => type === "tool-call") ?? false;

const errorBefore = (state: SessionState, run: RunView): string | null =>
  state.runs.findLast((known) => known.requestId === run.requestId && known.error !== null)?.error ?? null;

/** What a person can do about an error, by what the sentence is about. */
function adviseOn(error: string | null): string {
  if (error && /step limit/i.test(error)) return "Send a message to let the agent go on from here.";
  if (error && /api key|unauthori[sz]ed|\b401\b/i.test(error)) {
    return "Check the model’s API key where the service runs, then send a message to try again.";
  }
  if (error && /\b429\b|rate limit|quota/i.test(error))
    return "Wait a while, then send a message to try again.";
  if (error && /schema|response_format/i.test(error)) return "Simplify the schema and start a new session.";
  return "Send a message to try again.";
}
