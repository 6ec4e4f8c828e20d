import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isContextOverflow } from "./context-overflow.ts";

const refused = (message: string) => isContextOverflow({ message, isRetryable: false, statusCode: 400 });

describe("isContextOverflow", () => {
  for (const message of [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "context_length_exceeded",
    "prompt is too long: 213462 tokens > 200000 maximum",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000",
    "Input is too long for requested model.",
    "the request exceeds the available context size, try increasing it",
    "Please reduce the length of the messages or completion.",
  ])
    it(`is: ${message}`, () => assert.equal(refused(message), true));

  for (const message of [
    "Invalid schema for response_format",
    "Incorrect API key provided",
    "Request too large for gpt in organization on tokens per min (TPM)",
    "Too many tokens per day, please wait",
    "The model's answer was cut off at its output limit.",
  ])
    it(`is not: ${message}`, () => assert.equal(refused(message), false));

  it("is not: a retryable failure or a rate limit", () => {
    assert.equal(isContextOverflow({ message: "context length", isRetryable: true, statusCode: 503 }), false);
    assert.equal(
      isContextOverflow({ message: "context length", isRetryable: false, statusCode: 429 }),
      false,
    );
  });
});
