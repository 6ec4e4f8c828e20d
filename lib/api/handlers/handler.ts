import type { z } from "zod";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import type { Caller } from "../auth/authenticate.ts";
import type { Contract, OperationName } from "../contract/contract.ts";
import type { Operation, OperationAuth } from "../contract/operation.ts";
import type { Failure } from "../http/errors.ts";
import type { ApiServices } from "./services.ts";

/** The names of a path's `:name` parts. */
type ParamName<Path extends string> = string extends Path
  ? string
  : Path extends `${string}:${infer Rest}`
    ? Rest extends `${infer Name}/${infer After}`
      ? Name | ParamName<After>
      : Rest
    : never;

type BodyOf<Of> = Of extends { takesBytes: true }
  ? Uint8Array<ArrayBuffer>
  : Of extends { body: infer Schema extends z.ZodType }
    ? z.output<Schema>
    : unknown;

type QueryOf<Of> = Of extends { query: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : Record<string, unknown>;

type CallerOf<Auth extends OperationAuth> = Auth extends { kind: "key" | "login" | "person" }
  ? Caller
  : Auth extends { kind: "share"; orKey: true }
    ? Caller | undefined
    : undefined;

type SessionOf<Of extends Operation> = string extends Of["path"]
  ? SessionRow | undefined
  : Of extends { auth: { kind: "none" } } | { sessionCheck: "handler" }
    ? undefined
    : "sessionId" extends ParamName<Of["path"]>
      ? SessionRow
      : undefined;

/**
 * The input of an operation's handler: the parts of the request. `serveOperation` has checked them before it calls the
 * handler. Their types follow from the operation.
 */
export type Call<Of extends Operation = Operation> = {
  request: Request;
  params: Record<ParamName<Of["path"]>, string>;
  body: BodyOf<Of>;
  /** Returns the SHA-256 (hex) of the JSON value that was sent. Equal values have equal hashes. */
  hashBody: () => string;
  query: QueryOf<Of>;
  /**
   * The holder of the API key, or the operator. Undefined for a visitor of a page and for a call without a credential.
   */
  caller: CallerOf<Of["auth"]>;
  /** Names the key or share link of a call to a session, as the security log does. */
  actor?: string;
  /**
   * The session in the path. If the path also names a sub-agent, `session` is the sub-agent's session. `serveOperation`
   * has checked that the caller may access the session. Undefined if the path has no session, if the operation needs no
   * credential, or if the handler itself checks the access (`sessionCheck`).
   */
  session: SessionOf<Of>;
};

/** The input of a handler for one operation of the contract, or for several operations with the same input. */
export type CallOf<Name extends OperationName> = Call<Contract[Name]>;

/**
 * What a handler returns: a value, which is encoded with the contract's schema; a refusal; or a complete response, such
 * as a stream, which is sent unchanged.
 */
export type Answer =
  | { ok: true; status: number; body: unknown; headers?: Record<string, string> }
  | Failure
  | Response;

/** Answers a call of an operation. The handler runs after `serveOperation` has checked the call. */
export type Handler<Of extends Operation = Operation, Services = ApiServices> = (
  services: Services,
  call: Call<Of>,
) => Promise<Answer>;

/** A handler for each operation of the contract. */
export type Handlers = { [Name in OperationName]: Handler<Contract[Name]> };
