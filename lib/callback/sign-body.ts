import { createHmac } from "node:crypto";

/**
 * Returns the value of `X-Service-Signature`: `sha256=` and the hex HMAC-SHA256 over the exact bytes of the body.
 * Source: specification, Run lifecycle callbacks, Signature.
 */
export function signBody(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

const PREFIX = "whsec_";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Returns the value of `webhook-signature`: `v1,` and the base64 HMAC-SHA256 over `<id>.<timestamp>.<body>`. The key is
 * the secret's UTF-8 bytes (`format: "raw"` in the official verifiers). If the secret is base64, with or without the
 * prefix `whsec_`, another signature is added. Its key is the decoded bytes, which the verifiers use by default.
 * Source: Standard Webhooks specification, Signature scheme.
 *
 * @param timestamp the attempt's time, in seconds since the epoch.
 */
export function signWebhook(secret: string, id: string, timestamp: number, body: Uint8Array): string {
  return readKeys(secret)
    .map((key) => createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64"))
    .map((signature) => `v1,${signature}`)
    .join(" ");
}

function readKeys(secret: string): Buffer[] {
  const bare = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const text = Buffer.from(secret, "utf8");
  return bare !== "" && BASE64.test(bare) ? [Buffer.from(bare, "base64"), text] : [text];
}
