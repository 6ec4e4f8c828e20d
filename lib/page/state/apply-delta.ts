import type { Draft, SessionState } from "./session-state.ts";
import type { MessageDelta } from "./view-types.ts";

/**
 * Adds a live piece to the message being written. Pure. Pieces are told apart by message, part, attempt and offset:
 * what the draft already holds is dropped, a later attempt replaces an earlier one, and a piece after a gap is left
 * out (the stored `message.completed` brings the whole). Source: `wire.md`, Stream.
 */
export function applyDelta(state: SessionState, delta: MessageDelta): SessionState {
  if (state.messages.some(({ id }) => id === delta.messageId)) return state;
  const index = state.drafts.findIndex(({ messageId }) => messageId === delta.messageId);
  const known = state.drafts[index];
  if (known && delta.attempt < known.attempt) return state;
  const draft = known && known.attempt === delta.attempt ? known : emptyDraft(delta);
  const written = draft[delta.part];
  const end = delta.offset + delta.text.length;
  if (delta.offset > written.length || end <= written.length)
    return draft === known ? state : place(state, index, draft);
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
