import type { z } from "zod";
import type { ShareRole } from "#db/schema/unions.ts";
import type { KeyScope } from "#lib/keys/key-scopes.ts";
import type { ErrorCode } from "../http/errors.ts";

/**
 * Who may call an operation:
 * - `key`: a client with an API key.
 * - `share`: a visitor of the session page with at least the given role. `orKey` also accepts an API key. `ownLink`
 *   accepts the session's own `shareUrl` only and refuses created links. `liveView` also accepts `liveViewUrl`.
 * - `login`: the operator, signed in on the landing page.
 * - `none`: anyone.
 */
export type OperationAuth =
  | { kind: "key" }
  | { kind: "share"; role: ShareRole; orKey: boolean; ownLink?: boolean; liveView?: boolean }
  | { kind: "login" }
  | { kind: "none" };

/** Headers that answers carry. */
export type AnswerHeader =
  | "Location"
  | "Idempotency-Replayed"
  | "ETag"
  | "Cache-Control"
  | "Content-Disposition";

/** The bucket that counts a call; `act` counts what visitors of the session page do. */
export type RateBucket = "create" | "poll" | "annotate" | "act";

export type Operation = {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With `:name` parameters. */
  path: string;
  summary: string;
  auth: OperationAuth;
  /** `handler`: whether the session of the path is the caller's comes out of the statement that it makes anyway. */
  sessionCheck?: "handler";
  /** Body schema; absent for operations without a body. */
  body?: z.ZodType;
  bodyBytesMax?: number;
  /** Whether a content type other than JSON is refused (415). */
  requiresJsonType?: boolean;
  query?: z.ZodObject;
  /** Request headers of its own; they are told of in the reference, and read by the handler. */
  headers?: z.ZodObject;
  /** What a body looks like where `body` lets anything through and the handler looks into it. */
  bodyShownAs?: z.ZodType;
  rate?: RateBucket;
  /**
   * Where the specification prints refusals without the envelope: the statuses, each with the sentence that stands for
   * whatever the shared steps found.
   */
  bare?: Record<number, string>;
  /** Refusals beyond those that follow from its other parts (credentials, body, parameters, limits). */
  errors?: readonly ErrorCode[];
  /** Answers by status; `stream` for an event stream, bytes, or nothing at all. */
  answers: Record<number, z.ZodType | "stream">;
  /** What a `stream` answer holds, by status: its media types; an answer that is not named has no body. */
  media?: Record<number, readonly string[]>;
  /** Headers that an answer carries beyond those of all answers, by status. */
  answerHeaders?: Record<number, readonly AnswerHeader[]>;
};

/** The scope that an API key needs for an operation: to look is to read, anything else is to write. */
export const scopeOf = ({ method }: Pick<Operation, "method">): KeyScope =>
  method === "GET" ? "sessions:read" : "sessions:write";

/** Types an operation by itself, so that its handler knows its body and answers. */
export const defineOperation = <const Defined extends Operation>(operation: Defined): Defined => operation;
