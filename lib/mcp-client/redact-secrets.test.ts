import assert from "node:assert/strict";
import { it } from "node:test";
import { deriveUserTokenKey, mintUserToken } from "#lib/secrets/user-token.ts";
import { createRedactor } from "./redact-secrets.ts";

it("redacts a server's secrets and the service's user tokens in a text, and keeps the rest", () => {
  const redact = createRedactor({
    url: "https://tools.example/mcp?token=query%2Dsecret&lang=en",
    headers: { authorization: "Bearer abcdefgh-secret", accept: "text/html" },
  });
  const token = mintUserToken(deriveUserTokenKey(new Uint8Array(32)), {
    sessionId: "ses_a",
    audience: "https://tools.example/mcp",
    holder: "agent",
    keyId: null,
    expiresAt: new Date(Date.UTC(2030, 0, 1)),
  });
  assert.equal(
    redact(`you sent Bearer abcdefgh-secret and ${token}, as text/html`),
    "you sent [redacted] and [redacted], as text/html",
  );
  assert.equal(
    redact("at /mcp?token=query%2Dsecret&lang=en, which is query-secret"),
    "at /mcp?token=[redacted]&lang=en, which is [redacted]",
  );
});
