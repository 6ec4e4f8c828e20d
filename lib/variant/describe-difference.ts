import { isDeepStrictEqual } from "node:util";
import { shorten } from "#lib/text/shorten.ts";
import type { Change, VariantDocument, VariantPage } from "./document.ts";

/** Maximum number of characters that a difference quotes from a style sheet, a script or another setting of a page. */
const SETTING_CHARS_MAX = 2_000;

/** A change, and the address of its page entry. */
type PlacedChange = { change: Change; url: string };

/**
 * Describes what changed between two documents, for a caller whose revision is out of date. Each added, altered or
 * dropped change is one line, and each altered setting of a page, such as `css`, `when` or `exclude`. Settings are
 * quoted, because a call can only replace them as a whole. A change whose content was altered while it was switched on
 * or off is described as switched.
 */
export function describeDifference(before: VariantDocument, after: VariantDocument): string[] {
  const old = byId(before);
  const now = byId(after);
  const lines = [...now].flatMap(([id, placed]) => {
    const words = describeAlteration(old.get(id), placed);
    return words === undefined ? [] : [`${words} ${JSON.stringify(placed.change)}`];
  });
  const dropped = [...old]
    .filter(([id]) => !now.has(id))
    .map(([, { change }]) => `dropped ${JSON.stringify(change)}`);
  const find = ({ pages }: VariantDocument, { url, match }: VariantPage) =>
    pages.find((other) => other.url === url && other.match === match);
  const settings = after.pages.flatMap((page) => describeSettings(find(before, page), page));
  const gone = before.pages
    .filter((page) => !find(after, page))
    .map(({ url, match }) => `dropped the page ${url} (match: ${match})`);
  return [...lines, ...dropped, ...settings, ...gone];
}

function describeAlteration(old: PlacedChange | undefined, now: PlacedChange): string | undefined {
  if (!old) return "added";
  if (isDeepStrictEqual(old.change, now.change))
    return old.url === now.url ? undefined : `moved to the page ${now.url}:`;
  if (old.change.off !== now.change.off) return now.change.off === true ? "switched off" : "switched on";
  return "altered";
}

/** Lists the settings of a page entry. An entry without a style sheet has the setting in the document, as empty text. */
function listSettings(page: VariantPage | undefined): Map<string, unknown> {
  if (!page) return new Map();
  const { url: _url, match: _match, changes: _changes, ...settings } = page;
  return new Map(Object.entries(settings).filter(([, value]) => value !== undefined && value !== ""));
}

function describeSettings(before: VariantPage | undefined, after: VariantPage): string[] {
  const old = listSettings(before);
  const now = listSettings(after);
  return [...new Set([...now.keys(), ...old.keys()])]
    .filter((name) => !isDeepStrictEqual(old.get(name), now.get(name)))
    .map((name) => {
      const value = now.get(name) ?? (name === "css" || name === "js" ? "" : undefined);
      return value === undefined
        ? `removed ${name} of ${after.url}`
        : `altered ${name} of ${after.url}: ${shorten(JSON.stringify(value), SETTING_CHARS_MAX)}`;
    });
}

const byId = ({ pages }: VariantDocument): Map<string, PlacedChange> =>
  new Map(pages.flatMap(({ url, changes }) => changes.map((change) => [change.id, { change, url }])));
