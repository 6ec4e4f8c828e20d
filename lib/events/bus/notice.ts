import type { EventKind, MessageDelta } from "../event.ts";

/** A message from one process to the others. */
export type Notice =
  /** An event was stored; its content is in the log. */
  | { type: "event"; sessionId: string; seq: number; kind: EventKind }
  | { type: "delta"; delta: MessageDelta }
  | { type: "signal"; topic: string; word: string }
  /** A process has started to listen. Each receiver replies with the unfinished messages that it is publishing. */
  | { type: "hello" }
  /** Notices were lost, so the receivers must read the log again. */
  | { type: "gap" };

/** The content of one notification. A notification without `to` is for all processes. */
type Envelope = { from: string; to?: string; notices: Notice[] };

/** Maximum size of a payload. Postgres accepts only payloads that are shorter than 8,000 bytes. */
const PAYLOAD_BYTES_MAX = 7_900;

/**
 * Packs notices, in order, into as few payloads as possible. A delta that is too long for one payload is split; any
 * other notice that is too long is dropped.
 */
export function packNotices(from: string, to: string | undefined, notices: Notice[]): string[] {
  const envelope = { from, ...(to !== undefined && { to }) };
  const head = Buffer.byteLength(JSON.stringify({ ...envelope, notices: [] }));
  const payloads: string[] = [];
  let texts: string[] = [];
  let sizeBytes = head;
  const flush = () => {
    if (texts.length > 0)
      payloads.push(`${JSON.stringify(envelope).slice(0, -1)},"notices":[${texts.join(",")}]}`);
    texts = [];
    sizeBytes = head;
  };
  for (const text of notices.flatMap((notice) => serialize(notice, PAYLOAD_BYTES_MAX - head))) {
    const bytes = Buffer.byteLength(text) + 1;
    if (sizeBytes + bytes > PAYLOAD_BYTES_MAX) flush();
    texts.push(text);
    sizeBytes += bytes;
  }
  flush();
  return payloads;
}

function serialize(notice: Notice, bytesMax: number): string[] {
  const text = JSON.stringify(notice);
  if (Buffer.byteLength(text) < bytesMax) return [text];
  if (notice.type !== "delta" || notice.delta.text.length < 2) return [];
  return halve(notice.delta).flatMap((delta) => serialize({ type: "delta", delta }, bytesMax));
}

/** Splits a delta into two. A surrogate pair is split only if the text has no other characters. */
function halve(delta: MessageDelta): MessageDelta[] {
  const { text, offset } = delta;
  let at = text.length >> 1;
  const unit = text.charCodeAt(at);
  if (unit >= 0xdc00 && unit <= 0xdfff && text.length > 2) at++;
  return [
    { ...delta, text: text.slice(0, at) },
    { ...delta, text: text.slice(at), offset: offset + at },
  ];
}

/** Parses a payload that {@link packNotices} created. Undefined for any other text. */
export function readEnvelope(payload: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(payload);
    if (typeof value !== "object" || value === null || !("notices" in value)) return undefined;
    // The cast holds because only packNotices writes to the channel.
    return Array.isArray(value.notices) ? (value as Envelope) : undefined;
  } catch {
    return undefined;
  }
}
