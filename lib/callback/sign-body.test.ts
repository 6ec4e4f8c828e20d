import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { signWebhook } from "./sign-body.ts";

const id = "whd-6f1c9a3e-58d2-4b7a-9c40-2f6d8e1b7a53";
const body = Buffer.from('{"event":"run.started",  "text":"Ö ✓ \\u2028"}');
const timestamp = Math.floor(Date.now() / 1_000);

const headers = (secret: string, at = timestamp) => ({
  "webhook-id": id,
  "webhook-timestamp": String(at),
  "webhook-signature": signWebhook(secret, id, timestamp, body),
});

test("the official verifier accepts every kind of secret", () => {
  const bytes = Buffer.from("a key of at least 24 bytes, or more");
  const base64 = bytes.toString("base64");
  const cases: [string, Webhook][] = [
    [`whsec_${base64}`, new Webhook(`whsec_${base64}`)],
    [base64, new Webhook(base64)],
    [base64, new Webhook(base64, { format: "raw" })],
    ["plain words, no base64", new Webhook("plain words, no base64", { format: "raw" })],
    ["gehe im ☂", new Webhook(Buffer.from("gehe im ☂"), { format: "raw" })],
    ["whsec_not base64", new Webhook("whsec_not base64", { format: "raw" })],
  ];
  for (const [secret, webhook] of cases)
    assert.deepEqual(webhook.verify(body, headers(secret)), JSON.parse(String(body)), secret);
});

test("the official verifier refuses another secret, another body, another id and another time", () => {
  const webhook = new Webhook("plain words", { format: "raw" });
  const right = headers("plain words");
  const later = String(timestamp + 1);
  assert.throws(() => webhook.verify(body, headers("other words")));
  assert.throws(() => webhook.verify(`${body} `, right));
  assert.throws(() => webhook.verify(body, { ...right, "webhook-id": "whd-other" }));
  assert.throws(() => webhook.verify(body, { ...right, "webhook-timestamp": later }));
});
