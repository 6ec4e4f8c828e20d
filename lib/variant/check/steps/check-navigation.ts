import { DANGEROUS_LINK, type RouteLink } from "#lib/injected/check/find-links.ts";
import type { SeenPage } from "#lib/injected/check/read-changes.ts";
import type { Finding } from "../check-report.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import { type PageLoad, withLoad } from "../load/open-load.ts";
import { PageFailure } from "../load/page-failure.ts";
import { copyProblems, listNewErrors, type PageProblems } from "../load/page-problems.ts";
import { untilApplied, waitForControl, waitForLoad } from "../load/wait-for-load.ts";
import { makeFinding } from "../make-finding.ts";
import { openPage } from "../operate/open-page.ts";
import type { CheckedChange } from "./check-changes.ts";
import { type PageSize, readPageSize } from "./measure-cost.ts";

const LINKS = { limit: 5, dangerous: DANGEROUS_LINK.source };
/** How often the check leaves the page and returns. Some variants leave a node behind each time. */
const TRIPS = 3;
const POLL_MS = 20;
const ERRORS_SHOWN = 5;
/** How long a router may take to change the address, in milliseconds. Some routers request data first. */
const ROUTE_MS_MAX = 2_000;
const CONTENT = new Set(["setText", "setHtml", "insert"]);

/**
 * The result of following a link. `away` is the address that the link led to. `isBack` says whether going back worked.
 * `sizes` has the size of the page after each return.
 */
type Trip = { away: string; isBack: boolean; sizes: PageSize[] };

/**
 * Follows a link that the page's router handles without loading a document, and goes back. Changes that do not match
 * the link's address must not stay after the link was followed. After going back, all changes must be applied again,
 * without new errors.
 *
 * @param changes outcomes of the changes that are applied. Sets their `navigation` if the page has such a link and
 * going back works.
 * @param ignored errors to ignore: the errors of the page without the variant, and the errors that another step
 * reports.
 */
export async function checkNavigation(
  check: CheckContext,
  target: CheckTarget,
  load: PageLoad,
  changes: CheckedChange[],
  ignored: PageProblems[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const before = await load.look("readChanges", null);
  const trip = await leaveAndReturn(check, load, async (away) => {
    findings.push(...(await checkAway(target, load, changes, away)));
  });
  if (!trip) return [];
  if (trip.isBack) findings.push(...(await checkReturn(check, target, load, changes, { ...trip, before })));
  // HTML that is left at each trip explains why the page grows.
  if (findings.some(({ code }) => code === "repeated")) trip.sizes.length = 0;
  const { nodes, listeners } = readGrowth(trip);
  if (trip.isBack && listNewErrors(load.problems, ignored).length === 0 && nodes < 1 && listeners < 1)
    return findings;
  return [...findings, ...(await compareTrips(check, target, { load, trip, ignored }))];
}

/**
 * Repeats the trip on a load without the variant, and returns the problems that occur only with the variant. Problems
 * that occur on both loads have another cause.
 */
async function compareTrips(
  check: CheckContext,
  target: CheckTarget,
  { load, trip, ignored }: { load: PageLoad; trip: Trip; ignored: PageProblems[] },
): Promise<Finding[]> {
  const control = await withLoad(check, target, false, async (controlLoad) => {
    await waitForControl(controlLoad, check, target);
    const controlTrip = await leaveAndReturn(check, controlLoad, async () => {});
    return { trip: controlTrip, problems: copyProblems(controlLoad.problems) };
  });
  const findings = listNewErrors(load.problems, [...ignored, control.problems])
    .slice(0, ERRORS_SHOWN)
    .map((text) => {
      const message = `With the variant the page logs an error while it goes to ${trip.away} by a link and back: ${text}`;
      return makeFinding(target, "fail", "console_error", null, message);
    });
  findings.push(...checkGrowth(target, trip, control.trip));
  if (trip.isBack || control.trip?.isBack !== true) return findings;
  const message = `With the variant the page does not come back from ${trip.away}, which it does without.`;
  return [...findings, makeFinding(target, "fail", "lost_at_navigation", null, message)];
}

/** How many nodes and event listeners the page gets more at least, each time it is left and shown again. */
function readGrowth({ sizes }: Pick<Trip, "sizes">): Pick<PageSize, "nodes" | "listeners"> {
  const least = (name: "nodes" | "listeners") =>
    sizes.length < TRIPS
      ? 0
      : Math.min(...sizes.slice(1).map((size, index) => size[name] - (sizes[index]?.[name] ?? 0)));
  return { nodes: least("nodes"), listeners: least("listeners") };
}

function checkGrowth(target: CheckTarget, trip: Trip, control: Trip | undefined): Finding[] {
  const grown = (["nodes", "listeners"] as const).flatMap((name) => {
    const more = readGrowth(trip)[name] - Math.max(0, readGrowth(control ?? { sizes: [] })[name]);
    return more >= 1 ? [`${more} ${name === "nodes" ? "nodes" : "event listeners"}`] : [];
  });
  if (grown.length === 0) return [];
  const message = `With the variant the page keeps ${grown.join(" and ")} more each time it goes to ${trip.away} by a link and back. Let the variant's js remove what it adds.`;
  return [makeFinding(target, "warn", "leak", null, message)];
}

/**
 * Follows a link of the page's router and goes back, three times. Requests for documents are blocked, so a link that the
 * router does not handle cannot leave the page.
 *
 * @returns undefined if the page has no link that its router handles.
 */
async function leaveAndReturn(
  check: CheckContext,
  load: PageLoad,
  onAway: (away: string) => Promise<void>,
): Promise<Trip | undefined> {
  const start = load.page.url();
  const document = await blockDocuments(load);
  const links = await load.look("findLinks", LINKS);
  const away = await followFirst(load, links, start, document.isRequested);
  if (away === undefined) return undefined;
  await waitForLoad(load, check);
  await onAway(away);
  const sizes: PageSize[] = [];
  let isBack = await comeBack(check, load, start);
  if (isBack) sizes.push(await readPageSize(load, check, true));
  for (let trips = 1; isBack && trips < TRIPS; trips += 1) {
    const [link] = (await load.look("findLinks", LINKS)).filter(({ url }) => url === away);
    if (!link || (await followFirst(load, [link], start, document.isRequested)) === undefined) break;
    await waitForLoad(load, check);
    isBack = await comeBack(check, load, start);
    if (isBack) sizes.push(await readPageSize(load, check, true));
  }
  return { away, isBack, sizes };
}

async function comeBack(check: CheckContext, load: PageLoad, start: string): Promise<boolean> {
  await load.look("goBack", null);
  const isBack = await untilTrue(() => load.page.url() === start, check.limits.routeMs);
  if (isBack) await waitForLoad(load, check);
  return isBack;
}

async function checkReturn(
  check: CheckContext,
  target: CheckTarget,
  load: PageLoad,
  changes: CheckedChange[],
  { away, before }: Trip & { before: SeenPage },
): Promise<Finding[]> {
  const ids = changes.map(({ id }) => id);
  if (!(await untilApplied(load, check, ids, check.limits.routeMs)) && target.open.length > 0) {
    await openAgain(check, target, load);
    await untilApplied(load, check, ids, check.limits.routeMs);
  }
  await waitForLoad(load, check);
  const seen = await load.look("readChanges", null);
  return changes.flatMap((outcome) => {
    const found = seen.changes[outcome.id];
    const isApplied = found?.isApplied === true;
    const copies = { before: before.changes[outcome.id]?.copies ?? 0, after: found?.copies ?? 0 };
    const isRepeated = isApplied && copies.after > copies.before;
    outcome.navigation = isApplied && !isRepeated ? "ok" : "failed";
    const change = target.changes.find(({ id }) => id === outcome.id);
    if (!change || (isApplied && !isRepeated)) return [];
    if (isRepeated) {
      const message = `The HTML of the ${change.op} of "${change.selector}" is on the page ${copies.after} times instead of ${copies.before}, after leaving for ${away} by a link and coming back several times.`;
      return [makeFinding(target, "fail", "repeated", change.id, message)];
    }
    const message = `The ${change.op} of "${change.selector}" was not applied again after leaving for ${away} by a link and coming back.`;
    return [makeFinding(target, "fail", "lost_at_navigation", change.id, message)];
  });
}

/** Carries out the steps that open something again: the page may have closed it when the browser left. */
async function openAgain(check: CheckContext, target: CheckTarget, load: PageLoad): Promise<void> {
  try {
    await openPage(check, target, load);
  } catch (error) {
    // What cannot be opened counts as not applied.
    if (!(error instanceof PageFailure)) throw error;
  }
}

/**
 * Aborts all document requests that the page's main frame makes after this call. `isRequested` returns whether there
 * was such a request since its last call.
 */
async function blockDocuments({ page }: PageLoad): Promise<{ isRequested: () => boolean }> {
  let isRequested = false;
  await page.route("**/*", (route) => {
    const request = route.request();
    if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return route.continue();
    isRequested = true;
    return route.abort("aborted");
  });
  return {
    isRequested() {
      const was = isRequested;
      isRequested = false;
      return was;
    },
  };
}

/**
 * Clicks one link after the other, until a link changes the address without a document request.
 *
 * @returns the new address, or undefined if no link changes it in this way.
 */
async function followFirst(
  load: PageLoad,
  links: RouteLink[],
  start: string,
  isDocumentRequested: () => boolean,
): Promise<string | undefined> {
  for (const link of links) {
    isDocumentRequested();
    await load.look("clickLink", link);
    let isBlocked = false;
    await untilTrue(() => {
      isBlocked ||= isDocumentRequested();
      return isBlocked || load.page.url() !== start;
    }, ROUTE_MS_MAX);
    if (!isBlocked && load.page.url() !== start) return load.page.url();
  }
  return undefined;
}

/**
 * Checks that changes are no longer applied on a page whose address they do not match. Judges only changes of content,
 * because the result of any other change could also be the page's own state.
 */
async function checkAway(
  target: CheckTarget,
  load: PageLoad,
  changes: CheckedChange[],
  away: string,
): Promise<Finding[]> {
  const seen = await load.look("readChanges", null);
  const expected = target.idsAt(away);
  return changes.flatMap(({ id }) => {
    const change = target.changes.find((each) => each.id === id);
    if (!change || !CONTENT.has(change.op) || expected.includes(id)) return [];
    const found = seen.changes[id];
    const isLeft = change.op === "insert" ? (found?.copies ?? 0) > 0 : found?.isApplied === true;
    const message = `The ${change.op} of "${change.selector}" stayed after the page had gone to ${away} by a link.`;
    return isLeft ? [makeFinding(target, "fail", "stayed_after_leaving", id, message)] : [];
  });
}

async function untilTrue(isTrue: () => boolean, timeoutMs: number): Promise<boolean> {
  for (const endMs = performance.now() + timeoutMs; performance.now() < endMs; ) {
    if (isTrue()) return true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return isTrue();
}
