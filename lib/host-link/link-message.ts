import { Decoder, Encoder } from "@msgpack/msgpack";

/** Version of the calls between a service and a browser host. Change it with every incompatible change. */
export const PROTOCOL_VERSION = 7;

/** The path at which a host accepts links. The number is the protocol version of the process that connects. */
export const linkPath = (protocol: number): string => `/link/${protocol}`;

/** The path at which a host says which one it is. The number is the protocol version of the process that asks. */
export const hostPath = (protocol: number): string => `/host/${protocol}`;

/** The path at which a process relays links to a host. The path of the link at the host follows, see `linkPath`. */
export const relayPath = (hostId: string): string => `/internal/browser-hosts/${hostId}`;

/** Largest message, in bytes. It fits the largest download (50 MiB) and the largest picture. */
export const MESSAGE_BYTES_MAX = 80 * 2 ** 20;

/** An error as it crosses the link. */
type SentError = { name: string; message: string };

/**
 * One message of a link. `call` begins a call; its number is unique among the calls of its sender. The caller may send
 * `cancel` and `signal`. The other end sends any number of `item`, and then one `done` or `failed`.
 */
export type LinkMessage =
  | { type: "call"; id: number; method: string; args: unknown }
  | { type: "cancel"; id: number; reason: SentError }
  | { type: "signal"; id: number; name: string }
  | { type: "item"; id: number; value: unknown }
  | { type: "done"; id: number; result?: unknown }
  | { type: "failed"; id: number; error: SentError };

// Fields with the value undefined are left out, as in JSON.
const encoder = new Encoder({ ignoreUndefined: true, maxDepth: 200 });
const decoder = new Decoder();
/** The key `__proto__` in MessagePack: a string of 9 bytes. The decoder refuses whole messages that contain it. */
const PROTO_KEY = Buffer.from("\xa9__proto__", "latin1");

/**
 * Encodes a message as MessagePack. Bytes (`Uint8Array`) and dates are kept.
 * @throws Error if a value cannot be sent: a function, an object that contains itself, or the key `__proto__`.
 */
export function encodeMessage(message: LinkMessage): Uint8Array {
  const data = encoder.encode(message);
  // Text may contain these bytes, too. Only then is the message decoded to find out.
  if (Buffer.from(data.buffer, data.byteOffset, data.byteLength).includes(PROTO_KEY)) decoder.decode(data);
  return data;
}

/**
 * Decodes a message. Bytes in it are views of `data`. The content is trusted, because both ends are parts of the
 * service and know the same token.
 * @throws Error if the data is no message.
 */
export function decodeMessage(data: Uint8Array): LinkMessage {
  const message = decoder.decode(data);
  if (typeof message !== "object" || message === null || !("type" in message))
    throw new Error("the message has no type");
  return message as LinkMessage;
}

/** Longest name and message of an error, in characters. Pages and scripts may have written them. */
const NAME_CHARS_MAX = 100;
const MESSAGE_CHARS_MAX = 50_000;

/** Converts an error so that it can be sent. Long messages are cut. */
export function toSentError(error: unknown): SentError {
  const { name, message } = error instanceof Error ? error : { name: "Error", message: errorToText(error) };
  return {
    name: String(name).slice(0, NAME_CHARS_MAX),
    message: String(message).slice(0, MESSAGE_CHARS_MAX),
  };
}

function errorToText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "an error without a message";
  }
}

/** An error that was thrown at the other end of a link. It has the name and the message of the original. */
export class RemoteError extends Error {
  constructor({ name, message }: SentError) {
    super(message);
    this.name = name;
  }
}

/** The link ended before the call did. The call may have had an effect. */
export class LinkEndedError extends Error {
  override name = "LinkEndedError";
}
