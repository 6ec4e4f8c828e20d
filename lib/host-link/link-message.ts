import { Decoder, Encoder } from "@msgpack/msgpack";

/** Version of the calls between a service and a browser host. Change it with every incompatible change. */
export const PROTOCOL_VERSION = 2;

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

/** Encodes a message as MessagePack. Bytes (`Uint8Array`) and dates are kept. */
export const encodeMessage = (message: LinkMessage): Uint8Array => encoder.encode(message);

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

/** Converts an error so that it can be sent. */
export const toSentError = (error: unknown): SentError =>
  error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: "Error", message: String(error) };

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
