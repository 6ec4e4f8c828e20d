import { randomBytes } from "node:crypto";

/**
 * What a page may load and run. Our own pages have a nonce policy: no foreign script, frame or connection. The demo shop
 * is a guest with looser rules, and without a nonce. Source: `security.md`, Session page.
 */
export function makePagePolicy(
  pathname: string,
  isDev: boolean,
): { policy: string; nonce: string | undefined } {
  if (pathname === "/demo" || pathname.startsWith("/demo/")) {
    const policy = "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'self'";
    return { policy, nonce: undefined };
  }
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${isDev ? " 'unsafe-eval'" : ""}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' blob: data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
  return { policy, nonce };
}
