import assert from "node:assert/strict";
import { test } from "node:test";
import { APICallError, RetryError } from "ai";
import { type ModelFailure, readModelFailure } from "./failure.ts";

const now = () => Date.parse("2026-11-20T10:00:00Z");
const canary = "canary-prompt-text";

function callError(fields: Partial<ConstructorParameters<typeof APICallError>[0]>) {
  return new APICallError({
    message: "Something is wrong.",
    url: "https://api.example/v1/responses",
    requestBodyValues: { input: canary, authorization: "Bearer sk-canary-key-0123456789" },
    ...fields,
  });
}

const withCode = (code: string) => Object.assign(new Error(`connect ${code} 127.0.0.1`), { code });
const named = (name: string, message: string) => Object.assign(new Error(message), { name });

const table: [title: string, error: unknown, expected: ModelFailure][] = [
  [
    "a wrong request is final",
    callError({ statusCode: 400 }),
    { message: "Something is wrong.", isRetryable: false, statusCode: 400 },
  ],
  [
    "a rejected key is final and the key is not repeated",
    callError({ statusCode: 401, message: "Incorrect API key provided: sk-proj-abcdef123456." }),
    { message: "Incorrect API key provided: [key removed]", isRetryable: false, statusCode: 401 },
  ],
  [
    "a rate limit is retryable",
    callError({ statusCode: 429 }),
    { message: "Something is wrong.", isRetryable: true, statusCode: 429 },
  ],
  [
    "Retry-After in seconds is honoured",
    callError({ statusCode: 429, responseHeaders: { "retry-after": "2.5" } }),
    { message: "Something is wrong.", isRetryable: true, statusCode: 429, retryAfterMs: 2_500 },
  ],
  [
    "Retry-After in milliseconds takes precedence",
    callError({ statusCode: 429, responseHeaders: { "retry-after-ms": "120", "retry-after": "9" } }),
    { message: "Something is wrong.", isRetryable: true, statusCode: 429, retryAfterMs: 120 },
  ],
  [
    "Retry-After as a date is relative to the clock",
    callError({ statusCode: 503, responseHeaders: { "retry-after": "Fri, 20 Nov 2026 10:00:30 GMT" } }),
    { message: "Something is wrong.", isRetryable: true, statusCode: 503, retryAfterMs: 30_000 },
  ],
  [
    "a Retry-After date in the past is ignored",
    callError({ statusCode: 503, responseHeaders: { "retry-after": "Fri, 20 Nov 2026 09:00:00 GMT" } }),
    { message: "Something is wrong.", isRetryable: true, statusCode: 503 },
  ],
  [
    "a used-up quota is final although it is a 429",
    callError({
      statusCode: 429,
      data: { error: { message: "You exceeded your quota.", code: "insufficient_quota" } },
    }),
    { message: "You exceeded your quota.", isRetryable: false, statusCode: 429 },
  ],
  [
    "a server error is retryable",
    callError({ statusCode: 500 }),
    { message: "Something is wrong.", isRetryable: true, statusCode: 500 },
  ],
  [
    "the message of a server with another error format is found",
    callError({
      statusCode: 400,
      message: "Bad Request",
      responseBody: JSON.stringify({ detail: "No such model." }),
    }),
    { message: "No such model.", isRetryable: false, statusCode: 400 },
  ],
  [
    "a list of details that quotes the request is not included",
    callError({
      statusCode: 422,
      message: "Unprocessable",
      responseBody: JSON.stringify({ detail: [{ input: canary }] }),
    }),
    { message: "Unprocessable", isRetryable: false, statusCode: 422 },
  ],
  [
    "a refused connection is retryable",
    callError({
      message: "Cannot connect to API: connect ECONNREFUSED",
      cause: withCode("ECONNREFUSED"),
      isRetryable: true,
    }),
    { message: "The connection to the model provider failed.", isRetryable: true },
  ],
  [
    "a connection lost in mid-stream is retryable",
    callError({
      statusCode: 200,
      message: "Failed to process successful response",
      cause: withCode("UND_ERR_SOCKET"),
    }),
    { message: "The connection to the model provider failed.", isRetryable: true },
  ],
  [
    "a host name that does not resolve is retryable",
    withCode("ENOTFOUND"),
    { message: "The connection to the model provider failed.", isRetryable: true },
  ],
  [
    "a timeout is retryable",
    new DOMException("late", "TimeoutError"),
    { message: "The model provider did not answer in time.", isRetryable: true },
  ],
  [
    "the timeout of an aborted stream is retryable",
    "TimeoutError: Step timeout of 100ms exceeded",
    { message: "The model provider did not answer in time.", isRetryable: true },
  ],
  [
    "a stop is final",
    new DOMException("stopped", "AbortError"),
    { message: "The model call was stopped.", isRetryable: false },
  ],
  [
    "an error reported in the stream keeps its message",
    {
      type: "error",
      error: Object.assign(named("AI_StreamProviderError", "Overloaded."), {
        statusCode: 503,
        isRetryable: true,
      }),
    },
    { message: "Overloaded.", isRetryable: true, statusCode: 503 },
  ],
  [
    "a bare error frame is read",
    { type: "error", error: { message: "Rate limit reached.", type: "rate_limit_exceeded" } },
    { message: "Rate limit reached.", isRetryable: false },
  ],
  [
    "a gateway's error is read from its fields",
    Object.assign(named("GatewayInternalServerError", "Upstream failed."), {
      statusCode: 502,
      isRetryable: true,
    }),
    { message: "Upstream failed.", isRetryable: true, statusCode: 502 },
  ],
  [
    "the last error of a retry is used",
    new RetryError({
      message: "Failed after 2",
      reason: "maxRetriesExceeded",
      errors: [callError({ statusCode: 500 })],
    }),
    { message: "Something is wrong.", isRetryable: true, statusCode: 500 },
  ],
  [
    "an invalid answer is not quoted",
    named("AI_TypeValidationError", `Type validation failed: Value: {"x":"${canary}"}.`),
    { message: "The model provider sent an answer of an unknown form.", isRetryable: true },
  ],
  [
    "a parse error is found inside its wrapper",
    callError({
      statusCode: 200,
      message: "Failed to process successful response",
      cause: named("AI_JSONParseError", canary),
    }),
    { message: "The model provider sent an answer that is not JSON.", isRetryable: true },
  ],
  [
    "a transcript that cannot be sent is final",
    named("AI_InvalidPromptError", `Invalid prompt: ${canary}`),
    { message: "The transcript cannot be sent to this model.", isRetryable: false },
  ],
  ["anything else is final", new Error("odd"), { message: "odd", isRetryable: false }],
  ["a string is used as the message", "odd", { message: "odd", isRetryable: false }],
  ["undefined gets a default message", undefined, { message: "The model call failed.", isRetryable: false }],
];

for (const [title, error, expected] of table) {
  test(title, () => {
    const failure = readModelFailure(error, now);
    assert.deepEqual(failure, expected);
    assert.doesNotMatch(JSON.stringify(failure), /canary/);
  });
}

test("a long message is cut", () => {
  assert.equal(readModelFailure(new Error("x".repeat(5_000))).message.length, 1_000);
});

test("a message can be stored: NUL characters and lone surrogates are replaced", () => {
  const cut = readModelFailure(new Error(`${"x".repeat(999)}\u{1f600}`)).message;
  assert.equal(cut, "x".repeat(999), "a character that does not fit is left out whole");
  const sent = callError({ statusCode: 400, message: "No\0such \ud83d model." });
  assert.equal(readModelFailure(sent).message, "No\ufffdsuch \ufffd model.");
  assert.equal(readModelFailure("a\0b").message, "a\ufffdb");
});
