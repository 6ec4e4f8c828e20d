import { findPlaces, makeNeedle, type Needle, type Place } from "./find-places.ts";
import { type Judgement, judgeRecords } from "./judge-records.ts";
import { type Leaf, listValues, type ValueRecord } from "./list-values.ts";
import { readSeenText } from "./read-seen-text.ts";
import type { Citation, Receipt, ReceiptJob, ReceiptSource, ReceiptStatus, SeenText } from "./receipt.ts";
import { createSearchIndex, type SearchIndex } from "./search-index.ts";
import { cleanPiece, PIECE_END, type SeenDocument, simplify } from "./seen-document.ts";

const SOURCES_MAX = 3;
const WEAK_CHARACTERS = 4;
const WEAK_PLACES = 5;
const QUOTE_CHARACTERS = 160;

/** What is known about a value, over all texts. */
type Finding = {
  needle: Needle;
  /** The largest number of places in one text: a page that was read twice counts once. */
  placesMax: number;
  near: boolean;
  away: boolean;
  sources: (ReceiptSource & { rank: number })[];
};

/**
 * Looks up every string and number of a deliverable in what the session saw. Asks no model. Runs in a worker thread,
 * because it may read 32 MiB of text.
 */
export function findReceipts({ value, schema, texts, citations, pictures, isWhole }: ReceiptJob): Receipt[] {
  const { records, leaves: all, isCut } = listValues(value, schema);
  const findings = new Map<Leaf, Finding>();
  for (const leaf of all)
    findings.set(leaf, {
      needle: makeNeedle(leaf.value),
      placesMax: 0,
      near: false,
      away: false,
      sources: [],
    });
  const groups = [...Map.groupBy(records, ({ group }) => group).values()];
  const cited = citations.map((citation) => ({
    citation,
    needles: citation.from.map(makeNeedle),
    sources: [] as ReceiptSource[][],
  }));
  for (const given of texts) {
    const url = findUrl(given.text) ?? given.url;
    const picture = given.picture ?? (url === null ? undefined : pictures.get(url));
    const text = { ...given, url, ...(picture !== undefined && { picture }) };
    const document = readSeenText(text.text);
    const index = createSearchIndex(document);
    lookUp(text, index, groups, findings);
    for (const { needles, sources } of cited)
      needles.forEach((needle, at) => {
        const found = findPlaces(index, needle).slice(0, 1);
        const known = sources[at] ?? [];
        sources[at] = [...known, ...found.map((place) => sourceOf(text, document, place))].slice(0, 1);
      });
  }
  const isSearched = isWhole && !isCut;
  return [...findings].map(([leaf, finding]) => {
    const status = statusOf(leaf, finding, isSearched);
    const base =
      status === "unseen" || status === "unchecked" ? findCited(leaf, finding.needle, cited) : undefined;
    return base
      ? { pointer: leaf.pointer, status: "derived", sources: base.slice(0, SOURCES_MAX) }
      : { pointer: leaf.pointer, status, sources: listSources(finding) };
  });
}

/** Finds the address of the page that a tool's result quotes, in the first line of the page's data. */
const findUrl = (text: string): string | undefined =>
  /^<data-[0-9a-f]{12}>\n"(?:[^"\\]|\\.)*" (https?:\S+)/m.exec(text)?.[1];

function lookUp(
  text: SeenText,
  index: SearchIndex,
  groups: ValueRecord[][],
  findings: Map<Leaf, Finding>,
): void {
  const { document } = index;
  const authored = text.authored === undefined ? undefined : simplify(cleanPiece(text.authored));
  const places = new Map<Leaf, Place[]>();
  const known = new Map<string, Place[]>();
  for (const [leaf, { needle }] of findings) {
    const key = `${typeof leaf.value} ${leaf.value}`;
    const found =
      known.get(key) ?? findPlaces(index, needle).filter((place) => !isAuthored(document, place, authored));
    known.set(key, found);
    if (found.length > 0) places.set(leaf, found);
  }
  if (places.size === 0) return;
  for (const records of groups) {
    const judgements = judgeRecords(document, records, places);
    for (const { leaves } of records)
      for (const leaf of leaves)
        note(findings.get(leaf), text, document, places.get(leaf), judgements.get(leaf));
  }
}

const isAuthored = ({ search }: SeenDocument, { start, end }: Place, authored: string | undefined): boolean =>
  authored?.includes(search.slice(start, end)) === true;

function note(
  finding: Finding | undefined,
  text: SeenText,
  document: SeenDocument,
  places: Place[] | undefined,
  judgement: Judgement | undefined,
): void {
  const [place] = places ?? [];
  if (finding && judgement === "absent") finding.away = true;
  if (!finding || !places || !place) return;
  finding.placesMax = Math.max(finding.placesMax, places.length);
  finding.near ||= judgement === "near";
  finding.away ||= judgement === "away";
  const rank = judgement === "near" ? 0 : judgement === undefined ? 1 : 2;
  finding.sources.push({ ...sourceOf(text, document, place), rank });
  finding.sources.sort((one, other) => one.rank - other.rank);
  finding.sources.length = Math.min(finding.sources.length, SOURCES_MAX);
}

function statusOf({ value }: Leaf, finding: Finding, isSearched: boolean): ReceiptStatus {
  const { placesMax, near, away } = finding;
  if (placesMax === 0) return isSearched ? "unseen" : "unchecked";
  if (String(value).trim().length < WEAK_CHARACTERS || placesMax > WEAK_PLACES) return "weak";
  return away && !near ? "elsewhere" : "seen";
}

const listSources = ({ sources }: Finding): ReceiptSource[] =>
  sources.map(({ rank: _, ...source }) => source);

/** Returns the places that the agent cited for a value, if each of them is in what the session saw. */
function findCited(
  leaf: Leaf,
  needle: Needle,
  cited: { citation: Citation; sources: ReceiptSource[][] }[],
): ReceiptSource[] | undefined {
  const own = cited.find(({ citation, sources }) => {
    const isValue =
      citation.value === leaf.value || simplify(cleanPiece(String(citation.value))) === needle.text;
    return (
      isValue && citation.from.length > 0 && citation.from.every((_, at) => (sources[at]?.length ?? 0) > 0)
    );
  });
  return own?.sources.flat();
}

function sourceOf(text: SeenText, { display }: SeenDocument, { start, end }: Place): ReceiptSource {
  const { seq, url, picture, sessionId } = text;
  return {
    seq,
    url,
    quote: quoteAround(display, start, end),
    ...(picture !== undefined && { picture }),
    ...(sessionId !== undefined && { sessionId }),
  };
}

/** Returns the line of a place, or its part around the place. */
function quoteAround(display: string, start: number, end: number): string {
  const length = Math.min(end - start, QUOTE_CHARACTERS);
  const margin = Math.floor((QUOTE_CHARACTERS - length) / 2);
  const lineStart = Math.max(display.lastIndexOf("\n", start - 1) + 1, start - margin);
  const nextLine = display.indexOf("\n", end);
  const lineEnd = Math.min(nextLine === -1 ? display.length : nextLine, start + length + margin);
  return display
    .slice(lineStart, lineEnd)
    .replaceAll(PIECE_END, " · ")
    .replaceAll("\n", " ")
    .toWellFormed()
    .trim();
}
