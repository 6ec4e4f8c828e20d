import type { z } from "zod";
import type { SessionRow } from "#lib/session/session-store.ts";
import type { Caller } from "../auth/authenticate.ts";
import type { Contract, OperationName } from "../contract/contract.ts";
import type { Operation, OperationAuth } from "../contract/operation.ts";
import type { Failure } from "../http/errors.ts";
import type { ApiServices } from "../services.ts";

/** The `:name` parts of a path. */
type ParamName<Path extends string> = string extends Path
  ? string
  : Path extends `${string}:${infer Rest}`
    ? Rest extends `${infer Name}/${infer After}`
      ? Name | ParamName<After>
      : Rest
    : never;

type BodyOf<Of> = Of extends { body: infer Schema extends z.ZodType } ? z.output<Schema> : unknown;

type QueryOf<Of> = Of extends { query: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : Record<string, unknown>;

type CallerOf<Auth extends OperationAuth> = Auth extends { kind: "key" | "login" }
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

/** The input of an operation's handler: the checked parts of the request, with the types that the operation defines. */
export type Call<Of extends Operation = Operation> = {
  request: Request;
  params: Record<ParamName<Of["path"]>, string>;
  body: BodyOf<Of>;
  /** SHA-256 (hex) of the JSON value that was sent; equal values have equal hashes. */
  hashBody: () => string;
  query: QueryOf<Of>;
  /** The holder of the API key, or the operator; undefined if a visitor of a page calls. */
  caller: CallerOf<Of["auth"]>;
  /** The session of the path, which belongs to the caller; undefined for operations that do not need it. */
  session: SessionOf<Of>;
};

/** The input of a handler for one or several named operations of the contract. */
export type CallOf<Name extends OperationName> = Call<Contract[Name]>;

/** A handler's answer: a value that is encoded through the contract, a refusal, or a complete response (for streams). */
export type Answer =
  | { ok: true; status: number; body: unknown; headers?: Record<string, string> }
  | Failure
  | Response;

/** Answers a call of an operation, after the shared steps have checked it. */
export type Handler<Of extends Operation = Operation, Services = ApiServices> = (
  services: Services,
  call: Call<Of>,
) => Promise<Answer>;
