import type { PageElement, PageNode } from "../../dom/make-dom.ts";
import { dom } from "./dom.ts";
import { listRoots, listShadowRoots, refreshRoots } from "./find-elements.ts";
import { forgetBlocked, isHydrating, isLoading } from "./hydration.ts";
import { every, filter, find, flatMap, includes, map, reverse, some } from "./lists.ts";
import { beginRound } from "./reapply-limit.ts";
import { type RunningPage, startPage } from "./running-page.ts";
import type { CompiledPage, CompiledVariant, VariantHandle } from "./runtime-types.ts";
import { shared } from "./shared-state.ts";

/** Two reconciliations begin at least one frame apart. */
const FRAME_MS = 16;
/**
 * In the long run, reconciliations take at most a fifth of the time. Their work may be ahead of this share by 50 ms (250
 * ms of time), so that one slow round does not delay the next change. While the document loads, it may be ahead by 300
 * ms, because new elements must be changed before they are painted.
 */
const TIMES_WORK = 5;
const FREE_MS = 250;
const FREE_LOADING_MS = 1_500;
/**
 * Maximum number of passes in a reconciliation. More than one pass may be necessary, because a change can make the
 * selector of another change match.
 */
const PASSES_MAX = 5;
/**
 * Maximum number of mutation records that are examined one by one. If there are more, as during a page load, all
 * changes are verified.
 */
const RECORDS_MAX = 200;

let entries: CompiledPage[] = [];
/** The running pages: the pages of the variant that match the current address. */
let pages: RunningPage[] = [];
/** Whether a reconciliation is due. */
let isPending = false;
/** Whether the document may contain shadow roots that `listRoots` does not list yet, or in another order. */
let isStale = false;
let isNoticed = false;
let nextRoundMs = 0;
/** Until when the reconciliations so far use up their share of the time. */
let budgetSpentUntilMs = -FREE_LOADING_MS;
let timer: ReturnType<typeof setTimeout> | undefined;
let scriptError: string | null = null;

/** The scripts of pages that have run, each with what it returned. A function is called when its page stops. */
const scriptsRun = new Map<string, unknown>();
const observer = new MutationObserver((records) => runRound(records));

const listChanges = () => flatMap(pages, ({ changes }) => changes);

function observeRoots(): void {
  const attributeFilter = flatMap(pages, ({ page }) => [...page.deciding, ...page.written]);
  // The cast is safe: the roots are documents and shadow roots.
  for (const root of pages.length > 0 ? listRoots() : [])
    observer.observe(root as Document | ShadowRoot, {
      subtree: true,
      childList: true,
      characterData: true,
      attributeFilter,
    });
}

/**
 * Whether a new element is relevant. It is relevant if it has shadow roots, or if a selector matches it or an element
 * inside it.
 */
function mayMatch(element: PageElement): boolean {
  if (listShadowRoots(element)[0]) isStale = true;
  return (
    isStale ||
    some(
      pages,
      ({ page: { selector } }) =>
        selector && (dom.matches(element, selector) || dom.querySelectorAll(element, selector)[0]),
    )
  );
}

/**
 * Verifies the changes that mutations may have undone.
 *
 * @returns whether the changes must be reconciled: selectors may match other elements now, or a change has lost nodes.
 */
function processMutations(records: MutationRecord[]): boolean {
  const isMany = records.length > RECORDS_MAX;
  let isRelevant = isMany;
  isStale ||= isMany;
  const mutated = new Set<PageNode>();
  for (const { type, target, attributeName, addedNodes } of isMany ? [] : records) {
    mutated.add(type === "characterData" ? (dom.parentNode(target) ?? target) : target);
    isRelevant ||= some(pages, ({ page }) =>
      type === "childList" ? page.isPositional : includes(page.deciding, attributeName ?? ""),
    );
    for (const node of addedNodes) if (dom.isElement(node)) isRelevant = mayMatch(node) || isRelevant;
  }
  const changes = listChanges();
  if (filter(changes, (change) => change.verify(false, isMany ? undefined : mutated)).length > 0)
    restorePositions();
  return isRelevant || some(changes, (change) => change.hasLost());
}

/** Restores the positions of nodes that other changes of the variant have displaced. */
function restorePositions(): void {
  for (let pass = 0; pass < PASSES_MAX; pass++)
    if (filter(listChanges(), (change) => change.verify(true)).length === 0) return;
}

function reconcile(): void {
  if (isStale || !every(listRoots(), dom.isConnected)) refreshRoots();
  isPending = isStale = false;
  forgetBlocked();
  observeRoots();
  const changes = listChanges();
  for (let pass = 0; pass < PASSES_MAX; pass++) {
    for (const change of changes) change.search();
    if (filter(changes, (change) => change.reconcile(pass > 0)).length === 0) break;
    restorePositions();
  }
}

/**
 * Runs one round: verifies the changes, and applies them to new elements if necessary. No code of the page runs during
 * a round.
 */
function runRound(records: MutationRecord[], isUrgent = false): void {
  const startMs = beginRound();
  // The end of hydration causes no mutation, so each round tries blocked elements again.
  if (processMutations(records) || isHydrating) isPending = true;
  for (const page of pages) page.adoptSheet();
  if (isPending && (isUrgent || startMs >= nextRoundMs)) {
    reconcile();
    budgetSpentUntilMs = Math.max(budgetSpentUntilMs, startMs - (isLoading() ? FREE_LOADING_MS : FREE_MS));
    budgetSpentUntilMs += (performance.now() - startMs) * TIMES_WORK;
    nextRoundMs = Math.max(budgetSpentUntilMs, startMs + FRAME_MS);
  }
  // Discards the mutation records that the runtime's own writes have caused.
  observer.takeRecords();
  clearTimeout(timer);
  if (!isPending && !isHydrating) return;
  const waitMs = nextRoundMs - startMs;
  timer = setTimeout(resume, waitMs);
  // An animation frame resumes the work before the next paint. A page in the background gets no frames, so the timer
  // resumes the work there.
  if (waitMs <= FRAME_MS) requestAnimationFrame(() => resume(true));
}

const resume = (isUrgent?: boolean) => runRound(observer.takeRecords(), isUrgent);

function tryScript(run: () => void): void {
  try {
    run();
  } catch (reason) {
    scriptError ??= String(reason);
  }
}

function runScripts(): void {
  if (isLoading()) return;
  for (const { page } of pages) {
    const { js } = page;
    const source = String(js);
    if (!js || scriptsRun.has(source)) continue;
    scriptsRun.set(source, null);
    tryScript(() => scriptsRun.set(source, js()));
  }
}

dom.addEventListener(document, "DOMContentLoaded", runScripts);

/** Stops the pages of the variant that no longer match the address, and starts the pages that match it now. */
function followAddress(): void {
  const matching = filter(entries, ({ address }) => RegExp(address, "s").test(location.href));
  const isSame =
    matching.length === pages.length && every(pages, ({ page }, index) => page === matching[index]);
  if (isSame) return;
  for (const running of reverse(pages)) {
    const { page } = running;
    if (includes(matching, page)) continue;
    const source = String(page.js);
    const cleanUp = scriptsRun.get(source);
    if (typeof cleanUp === "function") {
      // A script that cleaned up after itself runs again when its page starts again.
      scriptsRun.delete(source);
      tryScript(() => cleanUp());
    }
    running.stop();
  }
  pages = map(matching, (page) => find(pages, (running) => running.page === page) ?? startPage(page));
  observer.disconnect();
  isPending = isStale = pages.length > 0;
  runRound([], true);
  runScripts();
}

/** Handles changes of the page that cause no mutation, at most once per microtask. */
function onNotice(): void {
  if (isNoticed) return;
  isNoticed = true;
  queueMicrotask(() => {
    isNoticed = false;
    isPending = isStale = pages.length > 0;
    followAddress();
    resume();
  });
}

function stop(): void {
  shared.listeners.delete(onNotice);
  resume();
  entries = [];
  followAddress();
}

function update(variant: CompiledVariant): void {
  stop();
  entries = variant.pages;
  shared.listeners.add(onNotice);
  followAddress();
}

/** Starts a variant in this document. Until `revert` is called, it reacts to changes of the address and of the page. */
export function startVariant(variant: CompiledVariant): VariantHandle {
  update(variant);
  return {
    report() {
      resume(true);
      return {
        url: location.href,
        pages: pages.length,
        isHydrating,
        scriptError,
        changes: map(listChanges(), (change) => change.report()),
      };
    },
    update,
    revert: stop,
  };
}
