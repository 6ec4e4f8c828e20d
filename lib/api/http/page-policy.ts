import { randomBytes } from "node:crypto";
import { isDemo, isFrame } from "./security-headers.ts";

/**
 * Creates the Content-Security-Policy of a page. The service's own pages get a policy with a nonce. This policy allows
 * no script, frame or connection of another origin. The demo shop gets a looser policy without a nonce. With
 * `?visitor`, the shop runs published variants, whose scripts an agent wrote. The shop is then sandboxed, so that it
 * has an opaque origin and gets no cookies of the service. Source: `security.md`, Session page.
 *
 * @param embedOrigins origins whose pages may show the pages of frames (`EMBED_ORIGINS`).
 */
export function makePagePolicy(
  { pathname, searchParams }: Pick<URL, "pathname" | "searchParams">,
  isDev: boolean,
  embedOrigins: readonly string[],
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
  const policy = composePolicy(
    `'self' 'nonce-${nonce}' 'strict-dynamic'${isDev ? " 'unsafe-eval'" : ""}`,
    // Inline styles are allowed in development, because Next inserts them during a hot reload.
    `'self' ${isDev ? "'unsafe-inline'" : `'nonce-${nonce}'`}`,
    isFrame(pathname) && embedOrigins.length > 0 ? embedOrigins.join(" ") : "'none'",
  );
  return { policy, nonce };
}

/**
 * Creates the Content-Security-Policy of a page that is sent to everybody with the same bytes.
 *
 * @param scripts SHA-256 in base64 of each inline script of the page; `none` if no script may run.
 */
export const makeStaticPolicy = (scripts: string[] | "none"): string =>
  composePolicy(
    scripts === "none" ? "'none'" : ["'self'", ...scripts.map((hash) => `'sha256-${hash}'`)].join(" "),
    "'self'",
    "'none'",
  );

const composePolicy = (scripts: string, styles: string, ancestors: string): string =>
  [
    "default-src 'self'",
    `script-src ${scripts}`,
    `style-src ${styles}`,
    "img-src 'self' blob: data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${ancestors}`,
  ].join("; ");

/** The parameters that pages and Next's router read. */
const PAGE_PARAMETERS = ["login", "token", "_rsc"];
/** Maximum length of a parameter's value. The longest are the tokens of login links. */
const VALUE_CHARS_MAX = 300;

/**
 * Returns the query for Next: only the parameters that a page reads, each once and short. Next copies the whole query into the
 * page, which takes 200 ms for a query of 12 KB.
 */
export function filterPageQuery(query: URLSearchParams): string {
  const kept = PAGE_PARAMETERS.flatMap((name) => {
    const value = query.get(name);
    return value === null || value.length > VALUE_CHARS_MAX ? [] : [[name, value]];
  });
  return kept.length === 0 ? "" : `?${new URLSearchParams(kept)}`;
}
