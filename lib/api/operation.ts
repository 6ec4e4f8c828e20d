import type { z } from "zod";
import type { ShareRole } from "#db/schema/unions.ts";

/**
 * Who may call an operation: `key` an API key, `share` a visitor of the session page with at least that role (a key
 * is taken too where `orKey` says so), `login` whoever is signed in on the landing page, `none` anybody.
 */
export type OperationAuth =
  | { kind: "key" }
  | { kind: "share"; role: ShareRole; orKey: boolean }
  | { kind: "login" }
  | { kind: "none" };

/** The bucket that counts a call. */
export type RateBucket = "create" | "poll" | "annotate";

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
  rate?: RateBucket;
  /**
   * Where the specification prints refusals without the envelope: the statuses, each with the sentence that stands for
   * whatever the shared steps found.
   */
  bare?: Record<number, string>;
  /** Answers by status; `stream` for an event stream or bytes. */
  answers: Record<number, z.ZodType | "stream">;
};

/** Types an operation by itself, so that its handler knows its body and answers. */
export const defineOperation = <const Defined extends Operation>(operation: Defined): Defined => operation;
