import { z } from "zod";

/** Parses an absolute http(s) URL. Returns undefined for any other text. */
export function readHttpUrl(text: string): URL | undefined {
  if (!/^https?:\/\//i.test(text)) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && (url.protocol === "http:" || url.protocol === "https:") && url.hostname !== ""
    ? url
    : undefined;
}

/**
 * Whether a text is the origin of an http(s) URL, written as browsers write it, such as `https://app.example`. Wildcards,
 * IPv6 addresses and other characters are not accepted, because the text becomes a part of content policies.
 */
export const isOrigin = (text: string): boolean => {
  const url = readHttpUrl(text);
  return url !== undefined && url.origin === text && /^[a-z\d.-]+$/.test(url.hostname);
};

/**
 * Schema of an absolute http(s) URL of at most `max` characters. The output is the text as sent; it is not normalized.
 */
export const httpUrlUpTo = (max: number) =>
  z
    .string()
    .max(max, { error: `must be at most ${max.toLocaleString("en")} characters` })
    .refine((text) => readHttpUrl(text) !== undefined, { error: "must be an absolute http(s) URL" });
