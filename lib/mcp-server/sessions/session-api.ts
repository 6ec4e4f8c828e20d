import type { z } from "zod";
import { type Contract, contract, type OperationName } from "#lib/api/contract/contract.ts";
import type { Operation } from "#lib/api/contract/operation.ts";
import { handlers } from "#lib/api/handlers/handlers.ts";
import type { ApiServices } from "#lib/api/handlers/services.ts";
import { serveOperation } from "#lib/api/serve/serve-operation.ts";

/** A refusal of an operation. `error` begins with the name of the field if a field is wrong. */
type ApiRefusal = { ok: false; code: string; error: string };

type BodyOf<Answers> = {
  [Status in keyof Answers]: Answers[Status] extends z.ZodType<infer Body> ? Body : never;
};

/** The result of an operation: the body of its response, or the refusal. */
export type ApiResult<Name extends OperationName> =
  | { ok: true; body: BodyOf<Contract[Name]["answers"]>[keyof Contract[Name]["answers"]] }
  | ApiRefusal;

type ApiInput = {
  params?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  signal: AbortSignal;
};

/** Calls operations of the HTTP interface with the credential of one caller. */
export type SessionApi = {
  call: <Name extends OperationName>(name: Name, input: ApiInput) => Promise<ApiResult<Name>>;
  services: ApiServices;
};

/**
 * Creates the API of one caller. A call takes all steps of a request over HTTP: authentication, scope, owner, rate limit,
 * validation, and the encoding of the response. Source: decision 135.
 *
 * @param credential the headers of the caller's request that hold the API key.
 */
export function createSessionApi(services: ApiServices, credential: Headers): SessionApi {
  async function call<Name extends OperationName>(name: Name, input: ApiInput): Promise<ApiResult<Name>> {
    const { params = {}, query = {}, body, signal } = input;
    const operation: Operation = contract[name];
    const url = new URL(
      operation.path.replace(/:(\w+)/g, (_, part) => encodeURIComponent(params[part] ?? "")),
      services.settings.baseUrl,
    );
    for (const [key, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(key, String(value));
    const headers = new Headers(credential);
    const init: RequestInit = { method: operation.method, headers, signal };
    if (body !== undefined) {
      headers.set("content-type", "application/json");
      init.body = JSON.stringify(body);
    }
    const response = await serveOperation(
      services,
      contract[name],
      handlers[name],
      new Request(url, init),
      params,
    );
    const answer = (await response.json()) as { code: string; error: string };
    // The casts are safe: `serveOperation` encodes responses with the schemas of the contract, and refusals in one form.
    if (response.ok) return { ok: true, body: answer } as ApiResult<Name>;
    return { ok: false, code: answer.code, error: answer.error };
  }
  return { call, services };
}

const CREDENTIAL_HEADERS = ["authorization", "x-service-api-key"];

/** Returns the headers of a request that can hold an API key. */
export function readCredential(headers: Headers): Headers {
  const credential = new Headers();
  for (const name of CREDENTIAL_HEADERS) {
    const value = headers.get(name);
    if (value !== null) credential.set(name, value);
  }
  return credential;
}
