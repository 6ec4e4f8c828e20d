import type { ScreencastFrame } from "#lib/browser/browser-service.ts";
import { encodeFrame } from "#lib/client/frame-header.ts";
import type { DomainEvent, MessageDelta, StoredEvent } from "#lib/events/event.ts";
import type { LiveFrame, LiveNotice } from "#lib/page/state/view-types.ts";

/** The encoded bytes of events, deltas and pictures. Each of them is encoded once for all viewers. */
const encoded = new WeakMap<object, Uint8Array>();

function encodeOnce<Source extends object>(
  source: Source,
  encode: (source: Source) => Uint8Array,
): Uint8Array {
  const cached = encoded.get(source);
  if (cached) return cached;
  const bytes = encode(source);
  encoded.set(source, bytes);
  return bytes;
}

/** Encodes a stored event as a text frame. The stored body is embedded without being parsed. */
export const encodeEvent = (event: StoredEvent): Uint8Array => encodeOnce(event, wrapEvent);

/** Encodes a delta of a message as a text frame. The frame has no sequence number. */
export const encodeDelta = (delta: MessageDelta): Uint8Array => encodeOnce(delta, wrapDelta);

/** Encodes a picture of the page as a binary frame. */
export const encodePicture = (frame: ScreencastFrame): Uint8Array => encodeOnce(frame, encodeFrame);

/** Encodes a notice, that is, a frame that does not come from the event log. */
export const encodeNotice = (notice: LiveNotice): Uint8Array => Buffer.from(JSON.stringify(notice));

function wrapEvent({ kind, seq, sessionId, body }: StoredEvent): Uint8Array {
  const head = JSON.stringify({ type: kind, seq, sessionId, timestamp: readTimestamp(body) });
  return Buffer.from(`${head.slice(0, -1)},"data":${body}}`);
}

function wrapDelta(delta: MessageDelta): Uint8Array {
  const { kind, sessionId, timestamp } = delta;
  return Buffer.from(JSON.stringify({ type: kind, sessionId, timestamp, data: delta } satisfies LiveFrame));
}

/**
 * Matches the start of an event's JSON. The log writes these three fields first, so the timestamp can be read without
 * parsing the whole JSON.
 */
const HEAD = /^\{"kind":"[^"]*","seq":\d+,"timestamp":"([^"]*)"/;

const readTimestamp = (body: string): string =>
  HEAD.exec(body)?.[1] ?? (JSON.parse(body) as DomainEvent).timestamp;
