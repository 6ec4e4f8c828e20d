import { compileCallerPattern } from "#lib/text/caller-pattern.ts";
import { findFact, type Scope } from "./match-fact.ts";
import type { SchemaObject } from "./resolve-schema.ts";
import { samplePattern } from "./sample-pattern.ts";

/** Placeholder values for the formats of JSON Schema. */
const formats: Record<string, string> = {
  "date-time": "1970-01-01T00:00:00Z",
  date: "1970-01-01",
  time: "00:00:00Z",
  duration: "P0D",
  email: "unknown@example.com",
  "idn-email": "unknown@example.com",
  hostname: "example.com",
  "idn-hostname": "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  url: "https://example.com/",
  iri: "https://example.com/",
  "uri-reference": "/",
  "iri-reference": "/",
  "uri-template": "/{path}",
  uuid: "00000000-0000-4000-8000-000000000000",
  "json-pointer": "/",
  "relative-json-pointer": "0",
  regex: ".*",
  byte: "",
};

/** Matches the words with which `lib/projection` describes a string that contains JSON. */
const JSON_TEXT = /(?:^|[.!?:…] )JSON text(?:\.| of (an object|a list|a value))/;

const isUrlFormat = (format: unknown) => typeof format === "string" && /^(uri|url|iri)$/.test(format);

/** Whether the caller's pattern is safe to run: it is short, has no groups and at most two unbounded repetitions. */
function isHarmless(pattern: string): boolean {
  return (
    pattern.length <= 200 && !/[()]/.test(pattern) && (pattern.match(/[*+]|\{\d+,\}/g)?.length ?? 0) <= 2
  );
}

function matches(pattern: string, text: string): boolean {
  return isHarmless(pattern) && text.length <= 500 && compileCallerPattern(pattern)?.test(text) === true;
}

/** Cuts or pads a text so that it has `least` to `most` code points, the unit in which JSON Schema counts. */
function fitLength(text: string, least: number, most: number): string {
  const points = [...text].slice(0, most);
  while (points.length < Math.min(least, 100_000)) points.push(points.length % 8 === 7 ? " " : ".");
  return points.join("");
}

/**
 * Returns a text for the schema. With a pattern: the page's text if it matches, otherwise a sample of the pattern. With
 * a known format and no pattern: a placeholder, or for a URL format a URL of the page if there is one. With
 * neither: the page's text or, without one, a text such as `not found`, cut or padded to the allowed length.
 */
export function buildString(
  schema: SchemaObject,
  place: { name: string; scope: Scope; position?: number },
): string {
  const least = typeof schema.minLength === "number" ? schema.minLength : 0;
  const most = typeof schema.maxLength === "number" ? schema.maxLength : 100_000;
  const fact = findFact(place.scope, place.name);
  const pageText =
    typeof fact === "string" && fact !== "" ? fact : typeof fact === "number" ? String(fact) : undefined;
  const { format, pattern, description } = schema;
  const [isJson, noun] = JSON_TEXT.exec(typeof description === "string" ? description : "") ?? [];
  if (noun === "an object" || noun === "a list") return noun === "an object" ? "{}" : "[]";
  if (isJson !== undefined) return JSON.stringify(pageText ?? null);

  if (typeof pattern === "string") {
    const fitted = pageText === undefined ? undefined : fitLength(pageText, least, most);
    if (fitted !== undefined && matches(pattern, fitted)) return fitted;
    return samplePattern(pattern, Math.max(least, uniqueLength(place, pattern))) ?? fitted ?? "";
  }
  if (typeof format === "string" && format in formats) {
    if (isUrlFormat(format)) {
      const url = [pageText, place.scope.values.url].find(
        (text) => typeof text === "string" && URL.canParse(text),
      );
      if (typeof url === "string" && url.length >= least && url.length <= most) return url;
    }
    const plain = formats[format] ?? "";
    return place.position && isUrlFormat(format) ? `${plain}${place.position}` : plain;
  }
  const text = pageText ?? (place.position ? `not found ${place.position + 1}` : "not found");
  if (pageText === undefined && most < text.length) {
    const number = place.position === undefined ? "" : String(place.position + 1);
    return fitLength(number.slice(0, most), least, most);
  }
  return fitLength(text, least, most);
}

/** Returns the minimum length for a list item. Later items get longer samples, so that all items are unique. */
function uniqueLength({ position }: { position?: number }, pattern: string): number {
  return position ? (samplePattern(pattern)?.length ?? 0) + position : 0;
}
