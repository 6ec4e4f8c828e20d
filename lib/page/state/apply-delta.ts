import type { Draft, SessionState } from "./session-state.ts";
import type { MessageDelta } from "./view-types.ts";

/**
 * Adds a streamed piece of text to the draft of a message. Pure. Skips text that the draft already contains. A piece of
 * a later attempt replaces the draft. A piece of an earlier attempt or of a stored message is dropped. A piece after a
 * gap is dropped, too, because `message.completed` contains the whole message. Source: `wire.md`, Stream.
 */
export function applyDelta(state: SessionState, delta: MessageDelta): SessionState {
  if (state.messages.some(({ id }) => id === delta.messageId)) return state;
  const index = state.drafts.findIndex(({ messageId }) => messageId === delta.messageId);
  const existing = state.drafts[index];
  if (existing && delta.attempt < existing.attempt) return state;
  const draft = existing && existing.attempt === delta.attempt ? existing : emptyDraft(delta);
  const written = draft[delta.part];
  const end = delta.offset + delta.text.length;
  if (delta.offset > written.length || end <= written.length)
    return draft === existing ? state : place(state, index, draft);
  const text = written.slice(0, delta.offset) + delta.text;
  return place(state, index, { ...draft, [delta.part]: text });
}

const emptyDraft = ({ messageId, requestId, runId, attempt }: MessageDelta): Draft => ({
  messageId,
  requestId,
  runId,
  attempt,
  text: "",
  reasoning: "",
});

const place = (state: SessionState, index: number, draft: Draft): SessionState => ({
  ...state,
  drafts: index < 0 ? [...state.drafts, draft] : state.drafts.with(index, draft),
});
