import type { PageJob, StructuredDataAnswer } from "./page-job.ts";
import { parsePage } from "./parse-page.ts";
import { readMicrodata } from "./read-microdata.ts";

const SCRIPTS_MAX = 50;

/** Finds a page's machine-readable metadata: JSON-LD, microdata, Open Graph, Twitter cards and elements of the head. */
export function findStructuredData({
  html,
  url,
}: Extract<PageJob, { kind: "structured data" }>): StructuredDataAnswer {
  const document = parsePage(html);
  const canonical = document.querySelector('link[rel~="canonical"][href]')?.getAttribute("href");
  return {
    title: document.querySelector("title")?.textContent?.trim() || null,
    description: readMeta(document, "name", "description").description?.[0] ?? null,
    canonicalUrl: canonical ? (URL.parse(canonical, url)?.href ?? null) : null,
    language: document.documentElement?.getAttribute("lang") || null,
    ...readJsonLd(document),
    microdata: readMicrodata(document, url),
    openGraph: {
      ...readMeta(document, "property", "og:"),
      ...readMeta(document, "property", "article:"),
      ...readMeta(document, "property", "product:"),
    },
    twitter: { ...readMeta(document, "name", "twitter:"), ...readMeta(document, "property", "twitter:") },
  };
}

function readJsonLd(document: Document): Pick<StructuredDataAnswer, "jsonLd" | "jsonLdErrors"> {
  const jsonLd: unknown[] = [];
  const jsonLdErrors: string[] = [];
  const scripts = [...document.querySelectorAll("script")].filter((script) =>
    /^application\/ld\+json\b/i.test(script.getAttribute("type")?.trim() ?? ""),
  );
  for (const script of scripts.slice(0, SCRIPTS_MAX)) {
    try {
      jsonLd.push(JSON.parse(script.textContent ?? ""));
    } catch (error) {
      jsonLdErrors.push(error instanceof Error ? error.message.slice(0, 300) : String(error));
    }
  }
  return { jsonLd, jsonLdErrors };
}

/**
 * Reads `meta` elements by name. If `start` ends with a colon, names must begin with it; otherwise they must equal it.
 */
function readMeta(document: Document, attribute: string, start: string): Record<string, string[]> {
  const found = new Map<string, string[]>();
  for (const meta of document.querySelectorAll(`meta[${attribute}][content]`)) {
    const name = meta.getAttribute(attribute)?.trim().toLowerCase() ?? "";
    const isNamed = start.endsWith(":") ? name.startsWith(start) : name === start;
    if (isNamed) found.set(name, [...(found.get(name) ?? []), meta.getAttribute("content")?.trim() ?? ""]);
  }
  return Object.fromEntries(found);
}
