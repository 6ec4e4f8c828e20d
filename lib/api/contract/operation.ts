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

export const KEY_AUTH = { kind: "key" } as const;
/** Any visitor of the session page, or a client with an API key. */
export const READER_AUTH = { kind: "share", role: "view", orKey: true } as const;
/** A visitor of the session page who may control the session, or a client with an API key. */
export const PUBLISHER_AUTH = { kind: "share", role: "drive", orKey: true } as const;

/** A visitor of the session page. */
export const VISITOR_AUTH = { kind: "share", role: "view", orKey: false } as const;
/** A visitor of the session page who may control the session. */
export const DRIVER_AUTH = { kind: "share", role: "drive", orKey: false } as const;

export const MIB = 1024 * 1024;

/** Response headers that an operation can declare. */
export type AnswerHeader =
  | "Location"
  | "Idempotency-Replayed"
  | "ETag"
  | "Cache-Control"
  | "Content-Disposition";

/** The rate limit that counts a call. `act` counts actions of session page visitors. */
export type RateBucket = "create" | "poll" | "annotate" | "act";

export type Operation = {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With `:name` parameters. */
  path: string;
  summary: string;
  auth: OperationAuth;
  /** `handler`: the handler's own query checks that the session belongs to the caller, which saves one query. */
  sessionCheck?: "handler";
  /** Schema of the request body. Absent for operations without a body. */
  body?: z.ZodType;
  bodyBytesMax?: number;
  /** Refuses request bodies of another content type than JSON with 415. */
  requiresJsonType?: boolean;
  query?: z.ZodObject;
  /** Request headers of this operation. They appear in the reference; the handler reads and validates them. */
  headers?: z.ZodObject;
  /** The documented body, for operations whose `body` accepts anything because the handler validates it. */
  bodyShownAs?: z.ZodType;
  rate?: RateBucket;
  /**
   * Statuses whose errors are sent without the envelope, as the specification defines. Each has the sentence that
   * replaces the message of the shared checks.
   */
  bare?: Record<number, string>;
  /** Errors beyond those that follow from credentials, body, parameters and limits. */
  errors?: readonly ErrorCode[];
  /** Responses by status. `stream` is an event stream, binary data or an empty body. */
  answers: Record<number, z.ZodType | "stream">;
  /**
   * Media types of responses other than JSON, by status. A `stream` response without an entry has no body; one with a
   * schema is JSON or one of these.
   */
  media?: Record<number, readonly string[]>;
  /** Headers of a response beyond those that all responses have, by status. */
  answerHeaders?: Record<number, readonly AnswerHeader[]>;
};

/** The scope that an API key needs for an operation. */
export const scopeOf = ({ method }: Pick<Operation, "method">): KeyScope =>
  method === "GET" ? "sessions:read" : "sessions:write";

/** Keeps the literal types of an operation, so that its handler knows its body and responses. */
export const defineOperation = <const Defined extends Operation>(operation: Defined): Defined => operation;
