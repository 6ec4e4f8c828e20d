import type { LiveStatus } from "#lib/client/live-connection.ts";
import { countOf } from "#lib/text/count-of.ts";
import { currentRun, isStopping, type SessionState } from "../state/session-state.ts";
import type { Deliverable, RunView } from "../state/view-types.ts";
import { awaitsAgreement } from "./describe-plan.ts";
import { describeStop } from "./describe-stop.ts";
import { describeTool, worksOnPage } from "./describe-tool.ts";
import { STATE_WORDS, stateOfRun, type Tone } from "./state-words.ts";

/**
 * The largest number of runs of one request: the first run and its automatic retries. Source: `architecture.md`, How a
 * request flows, 4.
 */
export const ATTEMPTS_MAX = 5;

/** The state of the session in words. */
export type StateWords = {
  tone: Tone;
  /** The state in a few words: `Working`, `Waiting for your answer`. */
  title: string;
  /** What the session is doing, or why it is in this state. */
  detail: string | null;
  /** What the reader can do about the state, or what else the reader should know, such as the error before a retry. */
  advice: string | null;
  /** The ISO time from which the page counts the elapsed time. */
  since: string | null;
  /** The ISO time until which the page counts the remaining time. */
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

/**
 * Describes the state of the session. If the connection is lost, describes only that, because everything else may be
 * stale.
 */
export function describeState(state: SessionState, live: LiveStatus): StateWords {
  return describeConnection(live) ?? describeTurn(state);
}

function describeConnection(live: LiveStatus): StateWords | undefined {
  if (live.state === "reconnecting") {
    return words("attention", "Reconnecting", {
      detail: live.isOverloaded ? "The service is busy." : "The connection was lost.",
      advice: "This page may be out of date. No data is lost.",
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
      return describeWait(state) ?? describePlaying(state, run);
    case "succeeded":
      return describeSuccess(state, run);
    case "cancelled":
      return wordsFor("stopped", {
        detail: `${describeStop(run.runId, state)}.`,
        advice: adviseToSend(state, "Send a message to continue."),
      });
    case "errored":
      return wordsFor("failed", {
        detail: run.error ?? "The run ended with an error.",
        advice: adviseToSend(state, adviseOn(run.error)),
      });
  }
}

function describePlaying(state: SessionState, run: RunView): StateWords {
  if (state.turnState === "compacting")
    return wordsFor("compacting", { detail: "Freeing space in the agent’s context.", since: run.startedAt });
  return wordsFor("working", { detail: describeWork(state, run), since: run.startedAt });
}

/** Returns the advice to send a message. Null on the page of a sub-agent, to which people cannot send messages. */
const adviseToSend = ({ agent }: SessionState, advice: string): string | null => (agent ? null : advice);

/** Describes what the running turn waits for. Undefined if it does not wait. */
function describeWait({
  elicitations,
  approvals,
  handovers,
  waitingOn,
  control,
  controlName,
  role,
  agents,
}: SessionState): StateWords | undefined {
  if (elicitations.length > 0) {
    if (role !== "drive") return wordsFor("waiting", { title: "Waiting for an answer" });
    const detail = elicitations.length === 1 ? "Answer the question below." : "Answer the questions below.";
    return wordsFor("waiting", { title: "Waiting for your answer", detail });
  }
  if (handovers.length > 0) {
    if (role !== "drive") return wordsFor("waiting", { title: "Waiting for a person" });
    return wordsFor("waiting", {
      title: "Waiting for you",
      detail: "The agent needs you in its browser, see below.",
    });
  }
  // The list of approvals may not have been read yet, but the wait names their items.
  if (approvals.length > 0 || waitingOn?.ids.some((id) => id.startsWith("itm_"))) {
    if (role !== "drive") return wordsFor("waiting", { title: "Waiting for approval" });
    return wordsFor("waiting", {
      title: "Waiting for your approval",
      detail: approvals.length > 1 ? "Approve or deny the calls below." : "Approve or deny the call below.",
    });
  }
  switch (waitingOn?.kind) {
    case "control":
      if (control !== "you")
        return wordsFor("waiting", {
          title: "Waiting for control",
          detail: `${controlName ?? "A person"} has control of the browser.`,
        });
      return wordsFor("waiting", {
        detail: "You have control of the browser.",
        advice: "Give it back to let the agent continue.",
      });
    case "agents": {
      const ended = agents.filter(({ status }) => status !== "running").map(({ agentId }) => agentId);
      // The event that ends the wait may arrive late. If all sub-agents have ended, all are counted, so that the count
      // is never 0.
      const count = waitingOn.ids.filter((id) => !ended.includes(id)).length || waitingOn.ids.length;
      const title = `Waiting for ${countOf(count, "sub-agent")}`;
      return words("busy", title, { since: waitingOn.since });
    }
    case "tests":
      return words("busy", "Waiting for test results", { since: waitingOn.since });
    case "budget":
      return wordsFor("waiting", {
        title: "Budget used up",
        detail: waitingOn.reason ?? null,
        until: waitingOn.until,
      });
    // The turn does not wait, or the person has just answered its question.
    default:
      return undefined;
  }
}

/** Describes a succeeded run. Its result may be invalid, and its browser may not have reached the page. */
function describeSuccess(state: SessionState, run: RunView): StateWords {
  const word = stateOfRun(run, state.deliverables);
  const deliverable = state.deliverables.find(({ runId }) => runId === run.runId);
  if (deliverable?.status === "failed") {
    return wordsFor(word, {
      detail: describeFailedResult(deliverable),
      advice: adviseToSend(state, "Send a message to get a new result from the next turn."),
    });
  }
  if (run.pageError === null)
    return awaitsAgreement(state.plan) ? describeAgreementWait(state) : wordsFor(word);
  return wordsFor(word, {
    detail: run.pageError,
    advice: adviseToSend(state, "Open the page in the address bar or send a message to try again."),
  });
}

/**
 * Describes the wait for a person to agree to the plan. The turn has ended. The agent changes nothing before a person
 * agrees.
 */
const describeAgreementWait = ({ role }: SessionState): StateWords =>
  role === "drive"
    ? wordsFor("waiting", { title: "Waiting for your go-ahead", detail: "Agree to the plan above." })
    : wordsFor("waiting", { title: "Waiting for a go-ahead" });

/**
 * Describes why a result failed: the number of schema violations, or the error. The result view lists the violations.
 */
function describeFailedResult({ error, violations = [] }: Extract<Deliverable, { status: "failed" }>) {
  if (violations.length === 0) return error;
  return `the result violates the schema in ${violations.length === 1 ? "one place" : `${violations.length} places`}`;
}

function describeWork(state: SessionState, run: RunView): string {
  // The calls of a message are announced together and run one after the other, so the first call without a result is
  // running.
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

/** Describes the wait for a browser. The session at position 1 is the next. */
export const describeBrowserWait = (position: number): string =>
  `Waiting for a browser, ${position === 1 ? "you are next" : `${position - 1} ahead of you`}`;

const endsInCall = (state: SessionState): boolean =>
  state.messages.at(-1)?.parts.some(({ type }) => type === "tool-call") ?? false;

const errorBefore = (state: SessionState, run: RunView): string | null =>
  state.runs.findLast((other) => other.requestId === run.requestId && other.error !== null)?.error ?? null;

/** Chooses the advice on an error by words in its message. */
function adviseOn(error: string | null): string {
  if (error && /step limit/i.test(error)) return "Send a message to let the agent continue.";
  if (error && /api key|unauthori[sz]ed|\b401\b/i.test(error)) {
    return "Check the model’s API key in the service’s settings, then send a message to try again.";
  }
  if (error && /\b429\b|rate limit|quota/i.test(error))
    return "Wait a moment, then send a message to try again.";
  if (error && /schema|response_format/i.test(error)) return "Simplify the schema and start a new session.";
  return "Send a message to try again.";
}
