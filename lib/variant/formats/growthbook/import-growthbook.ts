import { findAddressProblem } from "../../compile/check-document.ts";
import { chooseTreatment } from "../imported/choose-treatment.ts";
import { collectPages, type Draft } from "../imported/collect-pages.ts";
import { type Imported, type ImportOptions, quote } from "../imported/imported.ts";
import { type Address, EXCLUSIONS_MAX, readRegex, readSimplePattern } from "../imported/read-address.ts";
import { unwrapPageScript } from "../portable/page-script.ts";
import { unwrapSelector } from "../portable/selector.ts";
import { NO_IMPORTS } from "./export-growthbook.ts";
import { type GrowthBookSource, readGrowthBookSources, type SourceVariation } from "./growthbook-sources.ts";
import { readInserts, toInsertChange } from "./insert-script.ts";
import { readMutations } from "./read-mutations.ts";

/**
 * Imports visual changesets of GrowthBook's REST API, an SDK payload with `experiments`, or an export of
 * `exportGrowthBook`. Imports one variation of one experiment, even if there are several. Validates `value`. Has no
 * side effects.
 */
export function importGrowthBook(value: unknown, options: ImportOptions = {}): Imported {
  const read = readGrowthBookSources(value);
  if (!read.ok) return read;
  const omitted: string[] = [];
  const chosen = chooseTreatment(
    read.value.map((source) => ({
      path: source.path,
      names: source.experimentNames,
      treatments: source.variations.map((variation, index) => ({
        ...variation,
        isControl: index === 0 && source.variations.length > 1,
        isEmpty: isEmpty(variation),
        source,
      })),
    })),
    options,
    omitted,
  );
  if (!chosen.ok) return chosen;
  const drafts = chosen.treatments.flatMap((variation) =>
    readDrafts(variation.source, variation, options.url, omitted),
  );
  return collectPages(drafts, omitted);
}

const isEmpty = ({ css, js, mutations, redirect }: SourceVariation): boolean =>
  mutations.length === 0 && redirect === null && `${css}${js}`.trim() === "";

/**
 * Creates a draft of a page for each address pattern of a source. If the changes insert HTML, leaves out patterns that
 * might match the same page as an earlier pattern.
 */
function readDrafts(
  source: GrowthBookSource,
  variation: SourceVariation,
  url: string | undefined,
  omitted: string[],
): Draft[] {
  if (variation.redirect !== null) {
    omitted.push(`${variation.path}: it redirects to another address, which a variant cannot do.`);
    return [];
  }
  const { inserts, rest } = readInserts(variation.js);
  const changes = [
    ...readMutations(variation.mutations, variation.path, omitted),
    ...inserts.map((insert) => ({
      path: `${variation.path}.js`,
      change: toInsertChange(insert, unwrapSelector),
    })),
  ];
  const css = variation.css.startsWith(NO_IMPORTS) ? variation.css.slice(NO_IMPORTS.length) : variation.css;
  const hasInserts = changes.some(({ change }) => change.op === "insert");
  const addresses: Address[] = [];
  const exclude = readExclusions(source, omitted);
  for (const { path, address } of readAddresses(source, url, omitted)) {
    if (hasInserts && addresses.some((first) => canMeet(first, address)))
      omitted.push(
        `${path}: it can match pages of another pattern, on which the insertions would be made twice.`,
      );
    else addresses.push(address);
  }
  return addresses.map((address) => ({
    path: source.path || "document",
    ...address,
    exclude: limitExclusions([...(address.exclude ?? []), ...exclude], source.path, omitted),
    changes,
    css,
    js: unwrapPageScript(rest),
  }));
}

function limitExclusions<Each>(exclude: Each[], path: string, omitted: string[]): Each[] {
  if (exclude.length > EXCLUSIONS_MAX)
    omitted.push(
      `${path || "document"}: a page excludes at most ${EXCLUSIONS_MAX} addresses; the changes apply to the others too.`,
    );
  return exclude.slice(0, EXCLUSIONS_MAX);
}

/** Returns the part of an address pattern before its first wildcard. */
const readStart = ({ url }: Address): string => url.split("*")[0] ?? "";

/**
 * Whether two address patterns might match the same page. Compares the patterns only as text, because imported patterns
 * must not be run as regular expressions.
 */
function canMeet(one: Address, other: Address): boolean {
  if (one.match === "path" && other.match === "path") return one.url === other.url;
  const [first, second] = [readStart(one), readStart(other)];
  return first.startsWith(second) || second.startsWith(first);
}

/**
 * Reads the address patterns of a source that include addresses, each with its path. For each of them that has no
 * equivalent, and for a source without any, returns `url` instead, if it is given.
 *
 * @param omitted receives a sentence for each pattern that is left out, replaced by `url` or matched more strictly than
 * in GrowthBook, and for a source without other patterns if `url` is not given
 */
function readAddresses(
  { path, urlPatterns }: GrowthBookSource,
  url: string | undefined,
  omitted: string[],
): { path: string; address: Address }[] {
  const root = path === "" ? "" : `${path}.`;
  const included = listPatterns({ path, urlPatterns }).filter(({ include }) => include !== false);
  const fallback: Address[] = url === undefined ? [] : [{ url, match: "path" }];
  if (included.length === 0) {
    if (!url) omitted.push(`${root}urlPatterns: there is no address to include; give the url of the page.`);
    return fallback.map((address) => ({ path: `${root}urlPatterns`, address }));
  }
  return included.flatMap(({ path: place, type, pattern }) => {
    const address = readPattern({ type, pattern });
    if (address && type === "simple") omitted.push(`${place}: ${describeSimple(address)}`);
    if (address) return [{ path: place, address }];
    omitted.push(
      `${place}: the pattern has no equivalent here${url === undefined ? "; give the url of the page" : `, and ${quote(url)} is used`}.`,
    );
    return fallback.map((each) => ({ path: place, address: each }));
  });
}

/** Lists the address patterns of a source, each with its path. */
const listPatterns = ({ path, urlPatterns }: Pick<GrowthBookSource, "path" | "urlPatterns">) =>
  (urlPatterns ?? []).map((pattern, index) => ({
    ...pattern,
    path: `${path === "" ? "" : `${path}.`}urlPatterns[${index}]`,
  }));

const readPattern = ({ type, pattern }: { type: string; pattern: string }): Address | undefined =>
  type === "regex" ? readRegex(pattern) : type === "simple" ? readSimplePattern(pattern) : undefined;

const describeSimple = ({ url }: Address): string =>
  `GrowthBook ignores case, protocol and a slash at the end; the page entry matches ${quote(url)} as it is.`;

/**
 * Reads the address patterns that exclude addresses.
 *
 * @param omitted receives a sentence for each pattern that has no equivalent or is matched more strictly
 */
function readExclusions(source: GrowthBookSource, omitted: string[]): Address[] {
  const excluded = listPatterns(source).filter(({ include }) => include === false);
  return excluded.flatMap(({ path, type, pattern }) => {
    const address = readPattern({ type, pattern });
    if (!address || address.exclude || findAddressProblem(address) !== undefined) {
      omitted.push(
        `${path}: the excluded pattern has no equivalent here; the changes apply to these pages too.`,
      );
      return [];
    }
    if (type === "simple") omitted.push(`${path}: ${describeSimple(address)}`);
    return [address];
  });
}
