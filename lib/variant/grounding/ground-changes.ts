import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { matchesAddress } from "#lib/injected/runtime/match-address.ts";
import type { ChangeReport } from "#lib/injected/runtime/runtime-types.ts";
import type { ElementState, FoundBySelector } from "#lib/injected/tools/find-elements.ts";
import { countOf } from "#lib/text/count-of.ts";
import { shorten } from "#lib/text/shorten.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { evaluateIn } from "#lib/tools/browser/page-kit/evaluate-in-frame.ts";
import type { PageFrame } from "#lib/tools/browser/page-kit/page-frame.ts";
import { withFrames } from "#lib/tools/browser/page-kit/page-frames.ts";
import { quoteAsData } from "#lib/tools/quote-as-data.ts";
import { variantScript } from "../compile/variant-script.ts";
import type { Change, VariantDocument, VariantPage } from "../document.ts";
import { revertOthers, runInPage, untilApplied } from "../variant-in-page.ts";
import { findCssProblems } from "./find-css-problems.ts";

/** Whether a revision fits the page that the live browser shows, and which elements its changes matched there. */
export type Grounding =
  | {
      ok: true;
      /**
       * An entry for each change of this page that is new, altered or not applied: the number of matching elements, and
       * the first of them before and after the change. One more entry names the changes that are applied as before, if
       * there are any. If `js` failed, the last entry says so. Contains text of the page.
       */
      lines: string[];
      /** Ids of the changes of other pages. These changes were not tried. */
      elsewhere: string[];
      /** Number of matching elements on the live page, by change id. */
      matches: Record<string, number>;
      /**
       * What the browser ignores in new or altered style sheets and styles, and rules that match no element, one per
       * line. Contains text of the variant.
       */
      cssProblems: string[];
    }
  | { ok: false; problem: string };

/** A revision to try. */
export type Trial = {
  variant: string;
  document: VariantDocument;
  /** The document of the newest stored revision. */
  before: VariantDocument;
  /** A script that makes the page show what it showed before the trial. */
  previous: string;
};

/** Time limit for evaluating all selectors in the page. */
const SELECTORS_MS_MAX = 3_000;
const ELEMENTS_SHOWN = 2;
const CANDIDATES_SHOWN = 4;
/** How many frames of a page are searched for elements that no selector finds in the page itself. */
const FRAMES_MAX = 10;

/**
 * Tries a revision on the live page, and reads which elements each of its changes matches there. If a new or altered
 * change does not fit, the selectors take too long, or the page does not run the variant, the page is reset with
 * `previous`. An unaltered change of `before` need not fit.
 */
export async function groundChanges(
  live: LiveBrowser,
  { variant, document, before, previous }: Trial,
): Promise<Grounding> {
  const { here, elsewhere } = divide(document, live.page().url());
  const unaltered = new Set(
    before.pages.flatMap(({ changes }) => changes.map((each) => JSON.stringify(each))),
  );
  const cdp = await live.cdp();
  return withFrames(live, async ([main, ...frames]) => {
    if (!main) return { ok: false, problem: "The page is gone; open it again." };
    await runInPage(cdp, revertOthers(null));
    const found = await find(main, here);
    if (typeof found === "string") {
      // Not awaited, because the page may still be busy with the selectors.
      void runInPage(cdp, previous).catch(() => {});
      return { ok: false, problem: found };
    }
    await runInPage(cdp, variantScript(document, variant));
    const lateIds = new Set(here.flatMap(({ id, late }) => (late ? [id] : [])));
    const report = await untilApplied(cdp, variant, lateIds);
    const reports = new Map((report?.changes ?? []).map((change) => [change.id, change]));
    const isUnaltered = (change: Change) => unaltered.has(JSON.stringify(change));
    const fits = (change: Change) => !isMisfit(change, found.get(change.id), reports.get(change.id));
    const misfits = here.filter((change) => !isUnaltered(change) && !fits(change));
    if (misfits.length > 0 || report === undefined) {
      await runInPage(cdp, previous);
      return { ok: false, problem: await explainMisfits([main, ...frames], misfits, found, reports) };
    }
    const asBefore = here.filter(
      (change) => isUnaltered(change) && fits(change) && reports.get(change.id)?.state === "applied",
    );
    const others = here.filter((change) => !asBefore.includes(change));
    const lines = await describeAll(main, others, found, reports);
    if (asBefore.length > 0) lines.push(`${asBefore.map(({ id }) => id).join(", ")}: applied as before`);
    if (report.scriptError !== null) lines.push(`js failed: ${shorten(report.scriptError, 500)}`);
    const matches = Object.fromEntries(
      here.map(({ id }) => [id, countMatches(found.get(id), reports.get(id))]),
    );
    const sheets = document.pages.filter(
      (page) =>
        matchesAddress(page, live.page().url()) && !before.pages.some((old) => isSameSheet(old, page)),
    );
    const altered = here.filter((change) => !isUnaltered(change));
    const cssProblems = await findCssProblems(main, sheets, altered);
    return { ok: true, lines, elsewhere, matches, cssProblems };
  });
}

const isSameSheet = (one: VariantPage, other: VariantPage): boolean =>
  one.url === other.url && one.match === other.match && one.css === other.css;

function divide({ pages }: VariantDocument, url: string): { here: Change[]; elsewhere: string[] } {
  const isHere = (page: VariantPage) => matchesAddress(page, url);
  const isOn = ({ off }: Change) => off !== true;
  return {
    here: pages.filter(isHere).flatMap(({ changes }) => changes.filter(isOn)),
    elsewhere: pages
      .filter((page) => !isHere(page))
      .flatMap(({ changes }) => changes.filter(isOn).map(({ id }) => id)),
  };
}

type Found = Map<string, FoundBySelector>;

/** Finds the elements that the selector of each change matches. Returns a sentence if the selectors take too long. */
async function find(main: PageFrame, changes: Change[]): Promise<Found | string> {
  const wanted = changes.map(({ id, selector }) => ({ changeId: id, selector }));
  const tooSlow = `The selectors take longer than ${SELECTORS_MS_MAX / 1_000} s on this page. Use shorter ones, without :has() and ~.`;
  // Chromium can terminate the evaluation between two selectors, but not during a single slow selector. The deadline
  // covers a slow selector.
  const found = await createDeadline({ ms: SELECTORS_MS_MAX }).race(
    evaluateIn(main, "findBySelector", { wanted, shown: ELEMENTS_SHOWN }, SELECTORS_MS_MAX).catch(
      (error: unknown) => {
        if (/terminated/i.test(String(error))) return tooSlow;
        throw error;
      },
    ),
    () => tooSlow,
  );
  return typeof found === "string" ? found : new Map(found.map((each) => [each.changeId, each]));
}

const countMatches = (found: FoundBySelector | undefined, report: ChangeReport | undefined): number =>
  Math.max(found?.matches ?? 0, report?.matches ?? 0);

function isMisfit(
  change: Change,
  found: FoundBySelector | undefined,
  report: ChangeReport | undefined,
): boolean {
  if (found?.problem || report?.state === "error") return true;
  return countMatches(found, report) === 0 && change.late !== true;
}

/** Ids of the changes whose selectors match elements in frames inside the page. Variants do not run there. */
async function findInFrames(frames: PageFrame[], changes: Change[]): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const frame of frames.slice(0, FRAMES_MAX)) {
    // The page may remove a frame at any time. Then the elements of the frame cannot be a hint either.
    const found = await find(frame, changes).catch(() => "");
    if (typeof found === "string") continue;
    for (const { changeId, matches } of found.values()) if (matches > 0) ids.add(changeId);
  }
  return ids;
}

async function explainMisfits(
  [main, ...frames]: [PageFrame, ...PageFrame[]],
  misfits: Change[],
  found: Found,
  reports: Map<string, ChangeReport>,
): Promise<string> {
  if (misfits.length === 0) return "The page did not run the variant; reload it and try again.";
  const selectors = misfits.map(({ selector }) => selector);
  const candidates = await evaluateIn(main, "findCandidates", { selectors, limit: CANDIDATES_SHOWN }).catch(
    () => [],
  );
  const inFrames = await findInFrames(frames, misfits);
  const lines = misfits.map((change, index) => {
    const problem = found.get(change.id)?.problem ?? reports.get(change.id)?.error;
    if (problem) return `${change.id} ${change.op} ${JSON.stringify(change.selector)}: ${problem}`;
    if (inFrames.has(change.id))
      return `${change.id} ${change.op} ${JSON.stringify(change.selector)}: matches only inside a frame. A variant cannot change the content of frames, not even of the same origin.`;
    const closest = candidates[index] ?? [];
    const hint = closest.length === 0 ? "" : ` Closest:\n${closest.map((line) => `  ${line}`).join("\n")}`;
    return `${change.id} ${change.op} ${JSON.stringify(change.selector)}: no element matches.${hint}`;
  });
  return [
    `nothing was stored: ${misfits.length === 1 ? "a change does" : `${misfits.length} changes do`} not fit the live page.`,
    quoteAsData("the page", lines.join("\n")),
    "Correct the selectors; for an element that comes after the page has loaded, say late: true.",
  ].join("\n");
}

async function describeAll(
  main: PageFrame,
  changes: Change[],
  found: Found,
  reports: Map<string, ChangeReport>,
): Promise<string[]> {
  const refs = changes.flatMap(({ id }) => found.get(id)?.elements.map(({ ref }) => ref) ?? []);
  const states = await evaluateIn(main, "readStates", refs);
  const stateOf = new Map(refs.map((ref, index) => [ref, states[index] ?? null]));
  const ownMatches = await readOwnMatches(main, changes);
  return changes.map((change) => {
    const described = describeChange(change, found.get(change.id), reports.get(change.id), stateOf);
    return [described, ...(ownMatches.get(change.id) ?? [])].join("\n");
  });
}

/** Explains, by change id, which insertions match their own HTML. The check cannot tell such an element from its own. */
async function readOwnMatches(main: PageFrame, changes: Change[]): Promise<Map<string, string[]>> {
  const inserts = changes.filter(({ op }) => op === "insert");
  if (inserts.length === 0) return new Map();
  const wanted = inserts.map(({ id, selector }) => ({ changeId: id, selector }));
  const matches = await evaluateIn(main, "findOwnMatches", wanted, SELECTORS_MS_MAX).catch(() => []);
  return new Map(
    matches.map(({ changeId, keepsElement }) => [
      changeId,
      [keepsElement ? MATCHES_OWN_TOO : MATCHES_OWN_INSTEAD],
    ]),
  );
}

const MATCHES_OWN_INSTEAD =
  "  Its selector now matches what it inserts instead of its element, so check_variant fails it. Use a selector that does not depend on the position.";
const MATCHES_OWN_TOO =
  "  Its selector also matches what it inserts, which check_variant may take for the element. Prefer a selector that matches only the element.";

function describeChange(
  change: Change,
  found: FoundBySelector | undefined,
  report: ChangeReport | undefined,
  stateOf: Map<string, ElementState>,
): string {
  const count = countMatches(found, report);
  const head = `${change.id} ${change.op} ${JSON.stringify(change.selector)}: ${count === 0 ? "no element yet" : countOf(count, "element")}`;
  const state = report?.state === "fight" ? " The page renders over it, so it was given up." : "";
  const elements = (found?.elements ?? []).map((element) => {
    const after = stateOf.get(element.ref);
    if (!after) return `${element.label} box ${element.box} → gone`;
    const text =
      after.text === element.text ? `text ${element.text}` : `text ${element.text} → ${after.text}`;
    const box = after.box === element.box ? `box ${element.box}` : `box ${element.box} → ${after.box}`;
    return `${element.label} ${text} ${box}`;
  });
  return [head + state, ...elements.map((line) => `  ${line}`)].join("\n");
}
