import type { z } from "zod";
import type { ShareRole } from "#db/schema/unions.ts";
import type { KeyScope } from "#lib/keys/key-scopes.ts";
import type { ErrorCode } from "./error-codes.ts";

/**
 * Who may call an operation:
 * - `key`: a client with an API key.
 * - `share`: a visitor of the session page with at least the given role. With `orKey`, also a client with an API key.
 *   With `ownLink`, only visitors with the session's own `shareUrl`, not with created links. With `liveView`, also
 *   visitors with the `liveViewUrl`.
 * - `login`: the operator, signed in on the landing page with a login link or an account.
 * - `person`: the operator, or a person who signed in on the landing page with an API key that has the needed scope.
 * - `page`: a page of the service, without a credential.
 * - `none`: anyone.
 */
export type OperationAuth =
  | { kind: "key" }
  | { kind: "share"; role: ShareRole; orKey: boolean; ownLink?: boolean; liveView?: boolean }
  | { kind: "login" }
  | { kind: "person" }
  | { kind: "page" }
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

/** The description of an operation of the session page that equals an operation for programs. */
export const AS_FOR_KEYS =
  "The same as the corresponding operation under `/api/sessions`, with the share cookie as the credential.";

export const MIB = 1024 * 1024;

/** Response headers that an operation can declare. */
export type AnswerHeader =
  | "Location"
  | "Idempotency-Replayed"
  | "ETag"
  | "Accept-Ranges"
  | "Content-Range"
  | "Last-Modified"
  | "Cache-Control"
  | "Content-Disposition";

/**
 * The rate limit that a call counts against. `act` is for most actions of visitors of the session page and for the
 * corresponding changes by API clients.
 */
export type RateBucket = "create" | "poll" | "annotate" | "act";

export type Operation = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path, with `:name` for each parameter. `:filePath`, at the end, stands for one or more parts. */
  path: string;
  summary: string;
  /** What the summary does not say, in Markdown. Source: specification, Endpoints; `wire.md`, Also served. */
  description?: string;
  /** Example bodies for the API reference, by title. Without any, the reference shows one built from the schema. */
  bodyExamples?: Readonly<Record<string, unknown>>;
  auth: OperationAuth;
  /** The scope that an API key needs, if it does not follow from the method. Null if it needs none. */
  scope?: KeyScope | null;
  /**
   * `handler` if the handler itself checks, in its own database query, that the session belongs to the caller. The
   * check before the handler is then skipped.
   */
  sessionCheck?: "handler";
  /** Schema of the request body. Absent for operations without a body. */
  body?: z.ZodType;
  bodyBytesMax?: number;
  /** Whether the request body is bytes of any type instead of JSON. The handler gets them as a `Uint8Array`. */
  takesBytes?: true;
  /** Whether a request without a body and without a content type counts as `{}`. */
  isBodyOptional?: boolean;
  /** How many values the JSON may hold, if fewer than the 200,000 of all bodies. An empty array or object counts as two. */
  bodyValuesMax?: number;
  /** Whether a request body is refused with 415 if its content type is not JSON. */
  requiresJsonType?: boolean;
  query?: z.ZodObject;
  /** Schema of the request headers for the API reference. The handler reads and validates the headers itself. */
  headers?: z.ZodObject;
  /** Schema of the body for the API reference. Set if `body` accepts any value and thus does not describe the body. */
  bodyShownAs?: z.ZodType;
  rate?: RateBucket;
  /**
   * Statuses whose errors are sent without the envelope `{ success, error, code }`, as the specification defines. The
   * value is the message that is sent with such an error.
   */
  bare?: Record<number, string>;
  /** Errors that cannot be derived from the operation's credentials, body, parameters and rate limit. */
  errors?: readonly ErrorCode[];
  /** Responses by status: the schema of a JSON body, or `stream` for an event stream, binary data or an empty body. */
  answers: Record<number, z.ZodType | "stream">;
  /**
   * Media types other than JSON, by status. A `stream` response without an entry has no body. A response with a schema
   * can be JSON or one of these types.
   */
  media?: Record<number, readonly string[]>;
  /** Response headers by status, in addition to the headers of all responses. */
  answerHeaders?: Record<number, readonly AnswerHeader[]>;
};

/** Returns the scope that an API key needs to call an operation. Null if it needs none. */
export const scopeOf = ({ method, scope }: Pick<Operation, "method" | "scope">): KeyScope | null => {
  if (scope !== undefined) return scope;
  return method === "GET" ? "sessions:read" : "sessions:write";
};

/** Returns the operation with its literal types, which determine the types of its handler's body and responses. */
export const defineOperation = <const Defined extends Operation>(operation: Defined): Defined => operation;
