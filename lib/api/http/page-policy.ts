import { randomBytes } from "node:crypto";
import { isDemo } from "./security-headers.ts";

/**
 * What a page may load and run. Our own pages have a nonce policy: no foreign script, frame or connection. The demo shop
 * has a looser policy, without a nonce. With `?visitor` it runs published variants, whose scripts are agent-made:
 * there it has an origin of its own, without our cookies. Source: `security.md`, Session page.
 */
export function makePagePolicy(
  { pathname, searchParams }: Pick<URL, "pathname" | "searchParams">,
  isDev: boolean,
): { policy: string; nonce: string | undefined } {
  if (isDemo(pathname)) {
    const policy =
      "default-src 'self'; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'self'";
    const isVisited = searchParams.has("visitor");
    return {
      policy: isVisited ? `${policy}; form-action 'self'; sandbox allow-scripts allow-forms` : policy,
      nonce: undefined,
    };
  }
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${isDev ? " 'unsafe-eval'" : ""}`,
    // Next inserts styles as text while it reloads them in development.
    `style-src 'self' ${isDev ? "'unsafe-inline'" : `'nonce-${nonce}'`}`,
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
