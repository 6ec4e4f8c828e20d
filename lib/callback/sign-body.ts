import { createHmac } from "node:crypto";

/**
 * The value of `X-Service-Signature`: `sha256=` and the hex HMAC-SHA256 over the exact bytes of the body.
 * Source: specification, Run lifecycle callbacks, Signature.
 */
export function signBody(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}
