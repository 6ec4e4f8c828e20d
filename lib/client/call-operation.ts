import { ConnectionError, readApiError } from "./service-error.ts";
import { OPERATIONS, type Operations } from "./wire.ts";

export type OperationName = keyof Operations;

type Parameters<Name extends OperationName> = Operations[Name]["parameters"];
type Body<Name extends OperationName> = Operations[Name]["body"];

/** The input of an operation: its path and query parameters, and `body` if the operation has a body. */
export type InputOf<Name extends OperationName> = Parameters<Name> &
  (Body<Name> extends undefined ? unknown : { body: Body<Name> });

/**
 * The answer of an operation: the parsed JSON, a string if the body is another text (such as Markdown), or the
 * `Response` itself if the contract has no schema for the body.
 */
export type AnswerOf<Name extends OperationName> = Operations[Name]["answer"];

export type CallOptions = {
  /** Aborts the call. The call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  headers?: Record<string, string> | undefined;
};

/** How to reach the service: its address, the API key, and the `fetch` to use. */
export type Connection = {
  /** The service's address, such as `http://127.0.0.1:3000`. */
  baseUrl: string;
  apiKey?: string | undefined;
  fetch: typeof fetch;
};

/**
 * Sends the request of an operation.
 * @throws ApiError if the service refuses the request, ConnectionError if the service is not reached, and the signal's
 * reason if the signal aborts.
 */
export async function sendRequest<Name extends OperationName>(
  connection: Connection,
  name: Name,
  input: InputOf<Name>,
  options: CallOptions = {},
): Promise<Response> {
  const { method, path, query, hasBody } = OPERATIONS[name];
  const takesBytes = "takesBytes" in OPERATIONS[name];
  const values = input as Record<string, unknown>;
  const filled = path.replace(/:(\w+)/g, (_, field: string) => encodeURIComponent(String(values[field])));
  const url = new URL(connection.baseUrl.replace(/\/+$/, "") + filled);
  for (const field of query as readonly string[])
    if (values[field] !== undefined) url.searchParams.set(field, String(values[field]));
  const headers = new Headers(options.headers);
  if (connection.apiKey !== undefined) headers.set("authorization", `Bearer ${connection.apiKey}`);
  if (hasBody) headers.set("content-type", "application/json");
  const body = takesBytes ? (values.body as BodyInit) : hasBody ? JSON.stringify(values.body) : undefined;
  const request = { method, headers, ...(body !== undefined && { body }) };
  const { signal } = options;
  const response = await connection
    .fetch(url.href, signal ? { ...request, signal } : request)
    .catch((error) => {
      throw signal?.aborted
        ? signal.reason
        : new ConnectionError("the service was not reached", { cause: error });
    });
  if (!response.ok) throw await readApiError(response);
  return response;
}

/**
 * Calls an operation and reads its answer.
 * @throws the errors of {@link sendRequest}. Throws a ConnectionError also if the answer breaks off or is invalid JSON.
 */
export async function callOperation<Name extends OperationName>(
  connection: Connection,
  name: Name,
  input: InputOf<Name>,
  options?: CallOptions,
): Promise<AnswerOf<Name>> {
  const response = await sendRequest(connection, name, input, options);
  // The casts hold because the types are generated from the contract that the service implements.
  if (OPERATIONS[name].isRaw) return response as AnswerOf<Name>;
  try {
    const isText = OPERATIONS[name].hasText && !response.headers.get("content-type")?.includes("json");
    return (await (isText ? response.text() : response.json())) as AnswerOf<Name>;
  } catch (error) {
    if (options?.signal?.aborted) throw options.signal.reason;
    throw new ConnectionError("the answer of the service could not be read", { cause: error });
  }
}
