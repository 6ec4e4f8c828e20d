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

/** What the handler of an operation is given: everything checked, and typed by what the operation says. */
export type Call<Of extends Operation = Operation> = {
  request: Request;
  params: Record<ParamName<Of["path"]>, string>;
  body: BodyOf<Of>;
  /** SHA-256 (hex) of the body as it was sent; equal JSON values have equal hashes. */
  hashBody: () => string;
  query: QueryOf<Of>;
  /** Owner of the API key, or of what is started on the landing page; undefined where a page's visitor calls. */
  caller: CallerOf<Of["auth"]>;
  /** The session of the path, already known to be the caller's; undefined on operations that do without. */
  session: SessionOf<Of>;
};

/** What the handler of an operation of the contract is given; one that serves several takes any of their calls. */
export type CallOf<Name extends OperationName> = Call<Contract[Name]>;

/** A handler's answer: a value that is encoded through the contract, a refusal, or a response of its own (streams). */
export type Answer =
  | { ok: true; status: number; body: unknown; headers?: Record<string, string> }
  | Failure
  | Response;

/** Answers an operation; the shared steps have checked the call. */
export type Handler<Of extends Operation = Operation, Services = ApiServices> = (
  services: Services,
  call: Call<Of>,
) => Promise<Answer>;
