import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { makeStaticPolicy } from "#lib/api/http/page-policy.ts";

/** The themes that the page's own menu stores in a cookie. */
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** The API reference as bytes: all that its answers need. */
export type Reference = {
  policy: string;
  link: string | undefined;
  /** The first part of the page, which depends on the theme. */
  heads: Record<Theme, Uint8Array>;
  rest: Uint8Array;
  /** The whole page, compressed. */
  packed: Record<Theme, Uint8Array>;
  hash: string;
};

const HTML_TAG = /<html lang="en"/;
const pack = promisify(gzip);

/**
 * Composes the answers of the API reference from the page that Next has rendered. All visitors get the same bytes, so
 * the policy of the page lists the hashes of its inline scripts instead of a nonce.
 *
 * @param page.link the page's `Link` header.
 */
export async function composeReference(page: { html: string; link?: string }): Promise<Reference> {
  const { html, link } = page;
  const at = HTML_TAG.exec(html);
  if (!at) throw new Error("the API reference has no html element");
  const end = at.index + at[0].length;
  const scripts = html.matchAll(/<script(?![^>]* src=)[^>]*>([\s\S]*?)<\/script>/g);
  const rest = Buffer.from(html.slice(end));
  const headOf = (attribute: string) => Buffer.from(html.slice(0, end) + attribute);
  const heads = {
    system: headOf(""),
    light: headOf(' data-theme="light"'),
    dark: headOf(' data-theme="dark"'),
  };
  const packTheme = (theme: Theme) => pack(Buffer.concat([heads[theme], rest]));
  const [system, light, dark] = await Promise.all([
    packTheme("system"),
    packTheme("light"),
    packTheme("dark"),
  ]);
  return {
    policy: makeStaticPolicy(
      [...scripts].map(([, script = ""]) => createHash("sha256").update(script).digest("base64")),
    ),
    link,
    heads,
    rest,
    packed: { system, light, dark },
    hash: createHash("sha256").update(html).digest("base64url").slice(0, 27),
  };
}
