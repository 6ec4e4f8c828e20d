import { randomBytes } from "node:crypto";
import { isDemo } from "./security-headers.ts";

/**
 * Creates the Content-Security-Policy of a page. The service's own pages get a policy with a nonce. This policy allows
 * no script, frame or connection of another origin. The demo shop gets a looser policy without a nonce. With
 * `?visitor`, the shop runs published variants, whose scripts an agent wrote. The shop is then sandboxed, so that it
 * has an opaque origin and gets no cookies of the service. Source: `security.md`, Session page.
 */
export function makePagePolicy(
  { pathname, searchParams }: Pick<URL, "pathname" | "searchParams">,
  isDev: boolean,
): { policy: string; nonce: string | undefined } {
  if (isDemo(pathname)) {
    const policy =
      "default-src 'self'; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'self'";
    const isVisitor = searchParams.has("visitor");
    return {
      policy: isVisitor ? `${policy}; form-action 'self'; sandbox allow-scripts allow-forms` : policy,
      nonce: undefined,
    };
  }
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${isDev ? " 'unsafe-eval'" : ""}`,
    // Inline styles are allowed in development, because Next inserts them during a hot reload.
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
