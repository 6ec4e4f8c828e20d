import { withoutMarks } from "#lib/text/without-marks.ts";
import { isOpen, type SessionState } from "./session-state.ts";
import type {
  AttachmentPart,
  CompactionView,
  MissingToolsView,
  QuestionView,
  RunView,
  ToolCallView,
  TranscriptMessage,
} from "./view-types.ts";

/**
 * One tool call in the conversation. `call` is undefined in two cases. If `isOver` is false, the call has not begun. If
 * `isOver` is true, the run of the call has ended, and the call is so old that the snapshot lacks its result.
 */
export type TimelineCall = {
  toolCallId: string;
  toolName: string;
  input: unknown;
  call: ToolCallView | undefined;
  isOver: boolean;
};

/** One item of the conversation. A draft and the stored message that replaces it have the same key. */
export type TimelineItem =
  | {
      type: "user";
      key: string;
      text: string;
      /** The files that are attached to the message. */
      attachments: AttachmentPart[];
      /** How many annotations were sent with the message. */
      annotationCount: number;
      /** The evidence with the pictures of the page at these annotations. */
      annotationPictures: string[];
      author: string | null;
      createdAt: string;
      /** Whether the message steered a running turn. The agent read it between two steps of the turn. */
      isSteer: boolean;
    }
  | { type: "text"; key: string; text: string; isStreaming: boolean }
  | { type: "reasoning"; key: string; text: string; isStreaming: boolean }
  | { type: "tools"; key: string; toolName: string; calls: TimelineCall[] }
  | { type: "question"; key: string; question: QuestionView }
  | { type: "deliverable"; key: string; runId: string | null }
  | { type: "compaction"; key: string; compaction: CompactionView }
  | { type: "missing-tools"; key: string; missing: MissingToolsView }
  | { type: "notice"; key: string; run: RunView; retriedAs: RunView | undefined };

/**
 * Builds the items of the conversation: stored messages in order, then drafts, then tool calls whose message is not
 * stored yet. A run that failed, was stopped or did not reach its page has a notice after its last message. Pure.
 */
export function buildTimeline(state: SessionState): TimelineItem[] {
  const items: TimelineItem[] = [];
  const shown = new Set<string>();
  const notices = placeNotices(state);
  const results = placeResults(state);
  for (const message of state.messages) {
    addMessage(items, message, state, shown);
    const runId = results.get(message.id);
    if (runId) items.push({ type: "deliverable", key: `result:${runId}`, runId });
    items.push(...listMissingTools(state, message.id));
    items.push(...listCompactions(state, message.id));
    for (const run of notices.get(message.id) ?? []) items.push(noticeOf(run, state));
  }
  for (const { messageId, text, reasoning } of state.drafts) {
    if (reasoning)
      items.push({
        type: "reasoning",
        key: `${messageId}:reasoning:0`,
        text: reasoning,
        isStreaming: text === "",
      });
    const shownText = withoutMarks(text);
    if (shownText)
      items.push({ type: "text", key: `${messageId}:text:0`, text: shownText, isStreaming: true });
  }
  for (const call of Object.values(state.toolCalls)) {
    if (shown.has(call.toolCallId) || addQuestion(items, call.toolCallId, state)) continue;
    addCall(items, call, state.toolInputs[call.toolCallId], call, false);
  }
  items.push(...listMissingTools(state, null));
  items.push(...listCompactions(state, null));
  for (const run of notices.get(undefined) ?? []) items.push(noticeOf(run, state));
  return items;
}

function addMessage(
  items: TimelineItem[],
  message: TranscriptMessage,
  state: SessionState,
  shown: Set<string>,
): void {
  if (message.role === "user") {
    const text = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
    const attachments = message.parts.filter((part) => part.type === "attachment");
    const annotations = message.parts.filter((part) => part.type === "annotation");
    const annotationCount = annotations.length;
    const annotationPictures = annotations.flatMap(({ evidenceId }) => evidenceId ?? []);
    const { id, author, createdAt, requestId } = message;
    const isSteer = requestId !== null && state.steers.includes(requestId);
    items.push({
      type: "user",
      key: id,
      text,
      attachments,
      annotationCount,
      annotationPictures,
      author,
      createdAt,
      isSteer,
    });
    return;
  }
  const counts = new Map<string, number>();
  for (const part of message.parts) {
    const count = counts.get(part.type) ?? 0;
    counts.set(part.type, count + 1);
    const key = `${message.id}:${part.type}:${count}`;
    if (part.type === "tool-call") {
      shown.add(part.toolCallId);
      if (addQuestion(items, part.toolCallId, state)) continue;
      const call = state.toolCalls[part.toolCallId];
      addCall(items, part, part.input, call, call === undefined && !belongsToOpenRun(message, state));
    } else if (part.type === "data-deliverable") {
      items.push({ type: "deliverable", key, runId: message.runId });
    } else if ("text" in part && part.type !== "annotation" && part.text.trim() !== "") {
      items.push({ type: part.type, key, text: withoutMarks(part.text), isStreaming: false });
    }
  }
}

/**
 * Adds the question that a call asked, once it has an answer or is closed. Until then, its form is above the message
 * box. @returns whether it was added.
 */
function addQuestion(items: TimelineItem[], toolCallId: string, { questions }: SessionState): boolean {
  const question = questions.find((each) => each.toolCallId === toolCallId && each.state !== "open");
  if (question) items.push({ type: "question", key: `question:${question.elicitationId}`, question });
  return question !== undefined;
}

/** Adds a tool call. Consecutive calls of the same tool share an item. */
function addCall(
  items: TimelineItem[],
  { toolCallId, toolName }: Pick<TimelineCall, "toolCallId" | "toolName">,
  input: unknown,
  call: ToolCallView | undefined,
  isOver: boolean,
): void {
  const shown: TimelineCall = { toolCallId, toolName, input, call, isOver };
  const last = items.at(-1);
  if (last?.type === "tools" && last.toolName === toolName) last.calls.push(shown);
  else items.push({ type: "tools", key: toolCallId, toolName, calls: [shown] });
}

const belongsToOpenRun = ({ runId }: TranscriptMessage, { runs }: SessionState): boolean =>
  runs.some((run) => run.runId === runId && isOpen(run));

/**
 * Maps the id of a message to the runs whose notice is shown after that message. The notice of a run follows the last
 * message of the run or, if the run has no message, the last message of its request. The notice of a run without a
 * retry also follows the steering messages directly after that message. The key `undefined` has the runs for which the
 * state contains no such message; their notices are at the end of the conversation.
 */
function placeNotices(state: SessionState): Map<string | undefined, RunView[]> {
  const places = new Map<string | undefined, RunView[]>();
  for (const run of state.runs) {
    if (run.state !== "errored" && run.state !== "cancelled" && run.pageError === null) continue;
    const message =
      state.messages.findLast(({ runId }) => runId === run.runId) ??
      state.messages.findLast(({ requestId }) => requestId === run.requestId);
    // A queued message that was removed never entered the conversation, so its run has no notice.
    if (!message && run.startedAt === null) continue;
    const place = message && !retryOf(run, state) ? skipSteers(message, state) : message;
    places.set(place?.id, [...(places.get(place?.id) ?? []), run]);
  }
  return places;
}

/**
 * Returns the last of the steering messages that directly follow the message. Returns the message itself if none
 * follow.
 */
function skipSteers(message: TranscriptMessage, { messages, steers }: SessionState): TranscriptMessage {
  let last = message;
  for (const next of messages.slice(messages.indexOf(message) + 1)) {
    if (next.requestId === null || !steers.includes(next.requestId)) break;
    last = next;
  }
  return last;
}

const retryOf = (run: RunView, { runs }: SessionState): RunView | undefined =>
  runs.find((next) => next.requestId === run.requestId && next.attempt === run.attempt + 1);

/**
 * For each run with a finished structured result, maps the id of the run's last message to the id of the run. The page
 * shows the result after that message. Omits results that are part of a message.
 */
function placeResults(state: SessionState): Map<string, string> {
  const places = new Map<string, string>();
  for (const { runId, status } of state.deliverables) {
    const messages = state.messages.filter((message) => message.runId === runId);
    const isMessagePart = messages.some(({ parts }) => parts.some(({ type }) => type === "data-deliverable"));
    const last = messages.at(-1);
    if (last && status !== "pending" && !isMessagePart) places.set(last.id, runId);
  }
  return places;
}

const listCompactions = ({ compactions }: SessionState, messageId: string | null): TimelineItem[] =>
  compactions
    .filter(({ afterMessageId }) => afterMessageId === messageId)
    .map((compaction) => ({ type: "compaction", key: `compaction:${compaction.seq}`, compaction }));

const listMissingTools = ({ missingTools }: SessionState, messageId: string | null): TimelineItem[] =>
  missingTools
    .filter(({ afterMessageId }) => afterMessageId === messageId)
    .map((missing) => ({ type: "missing-tools", key: `missing:${missing.seq}`, missing }));

const noticeOf = (run: RunView, state: SessionState): TimelineItem => ({
  type: "notice",
  key: `end:${run.runId}`,
  run,
  retriedAs: retryOf(run, state),
});
