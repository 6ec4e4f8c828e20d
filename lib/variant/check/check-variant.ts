import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { copyStorage } from "#lib/browser/page/copy-storage.ts";
import { matchesAddress } from "#lib/injected/runtime/match-address.ts";
import { errorText } from "#lib/text/error-text.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { readStalledMs } from "#lib/time/processor-stalls.ts";
import { pageDeadline } from "#lib/tools/browser/page-deadline.ts";
import { listClicks } from "#lib/tools/browser/script/record-clicks.ts";
import { variantScript } from "../compile/variant-script.ts";
import type { VariantDocument } from "../document.ts";
import { checkPage, type PageResult } from "./check-page.ts";
import type {
  CheckedPage,
  CheckedRequirementResult,
  CheckReport,
  Finding,
  ViewportName,
} from "./check-report.ts";
import { type CheckEntry, type ChosenPages, choosePages, isEffective, listSteps } from "./choose-pages.ts";
import { statusOf } from "./conclude-check.ts";
import { listExaminedChanges } from "./examined-changes.ts";
import type { CheckContext, CheckTarget, ScriptTag } from "./load/check-context.ts";
import { CHECK_LIMITS, type CheckLimits } from "./load/check-limits.ts";
import { tagUrl } from "./load/serve-tag.ts";
import { makeFinding } from "./make-finding.ts";
import { type CheckedRequirement, requirementsOf } from "./steps/check-requirements.ts";
import { CLIPS_MAX, storeClips } from "./steps/take-clips.ts";
import { type PictureDeps, storePictures } from "./steps/take-pictures.ts";

/** Dependencies for checking a revision. */
export type CheckDeps = Omit<PictureDeps, "owner"> & {
  /** Origin that serves published scripts. */
  scriptOrigin: string;
  /** Shorter limits, for tests. */
  limits?: Partial<CheckLimits>;
};

/** A revision to check, and the browser that checks it. */
export type CheckRequest = {
  live: LiveBrowser;
  sessionId: string;
  runId: string | null;
  variant: string;
  revision: number;
  document: VariantDocument;
  viewports?: ViewportName[];
  /** How the page loads the published script. Default `async`, as the service recommends. */
  tag?: ScriptTag;
  /** Addresses to open, and what to click there before the page is looked at. */
  pages?: CheckEntry[];
  /** Whether forms and controls may send requests with effects. By default they are stopped before the network. */
  allowSubmits?: boolean;
  requirements?: CheckedRequirement[];
  signal: AbortSignal;
  onProgress?: (done: number, total: number, message: string) => void;
};

const FINDINGS_MAX = 50;
const STORAGE_TIMEOUT_MS = 10_000;
const DEFAULT_VIEWPORTS: ViewportName[] = ["desktop", "phone"];

/**
 * Checks a revision: loads each of its pages without and with the variant, and examines the effects of the variant. The
 * loads start with a copy of the live browser's cookies and storage. A page that cannot be examined becomes a finding.
 *
 * @throws the signal's reason if the check is stopped; Error if the browser or the evidence store fails.
 */
export async function checkVariant(deps: CheckDeps, request: CheckRequest): Promise<CheckReport> {
  const { live, variant, revision, document, signal, viewports = DEFAULT_VIEWPORTS } = request;
  const startedAt = new Date();
  const startMs = performance.now();
  const limits = { ...CHECK_LIMITS, ...deps.limits };
  const chosen = choosePages(document, live.page().url(), request.pages);
  const { storage, left } = await pageDeadline(
    signal,
    STORAGE_TIMEOUT_MS,
    () =>
      "The live page does not answer, so its cookies and storage could not be read. Reload it, and check again.",
  ).race(() => copyStorage(live));
  const check: CheckContext = {
    live,
    storage,
    variant,
    script: variantScript(document, variant),
    tag: request.tag ?? "async",
    tagUrl: tagUrl(deps.scriptOrigin),
    untagged: new Map(),
    limits,
    allowSubmits: request.allowSubmits ?? false,
    clicks: listClicks(live),
    signal: AbortSignal.any([signal, AbortSignal.timeout(limits.checkMs)]),
  };
  const targets = chosen.urls.flatMap((url) =>
    viewports.map((viewport) => makeTarget(document, url, viewport, listSteps(request.pages ?? [], url))),
  );
  const pages: CheckedPage[] = [];
  const findings = describeUnopenable(document, chosen);
  const notes = [...listUnchecked(request, chosen), ...left];
  const clipBudget = { left: CLIPS_MAX };
  for (const [index, target] of targets.entries()) {
    request.onProgress?.(index, targets.length, `checking ${target.url} (${target.viewport})`);
    const examined = await examine(request, check, target);
    findings.push(...examined.findings);
    if (!("page" in examined)) continue;
    const owner = { sessionId: request.sessionId, runId: request.runId };
    const saved = await storePictures({ ...deps, owner }, target, examined.pictures, signal);
    await storeClips({ ...deps, owner }, target, examined.clips, clipBudget);
    pages.push({ ...examined.page, pictures: saved.pictures });
    notes.push(...examined.notes, ...saved.notes);
  }
  return {
    variant,
    revision,
    status: statusOf({ findings, pages }),
    at: startedAt.toISOString(),
    durationMs: Math.round(performance.now() - startMs),
    findings: bySeverity(findings).slice(0, FINDINGS_MAX),
    pages,
    ...(request.requirements?.length && {
      requirements: request.requirements.map((each) => checkRequirement(each, targets, pages, findings)),
    }),
    notes,
  };
}

/**
 * Decides the result of a requirement's assertion. The assertion passes if it holds on each checked page that it refers
 * to, at each viewport width. It is unchecked if the check opens no such page, or if one of these pages could not be
 * examined.
 */
function checkRequirement(
  requirement: CheckedRequirement,
  targets: CheckTarget[],
  pages: CheckedPage[],
  findings: Finding[],
): CheckedRequirementResult {
  const { id, assertion } = requirement;
  const failed = findings.find(({ requirementId }) => requirementId === id);
  if (failed) return { id, status: "fail", message: failed.message };
  const about = targets.filter(({ url }) => requirementsOf([requirement], url).length > 0);
  if (about.length === 0)
    return { id, status: "unchecked", message: `The variant does not change ${assertion.url}.` };
  const isExamined = ({ url, viewport }: CheckTarget) =>
    pages.some((page) => page.url === url && page.viewport === viewport);
  if (about.every(isExamined)) return { id, status: "pass", message: null };
  return { id, status: "unchecked", message: "The page could not be examined." };
}

function makeTarget(
  { pages }: VariantDocument,
  url: string,
  viewport: ViewportName,
  open: CheckTarget["open"],
): CheckTarget {
  const matching = pages.filter((page) => matchesAddress(page, url));
  return {
    url,
    viewport,
    open,
    changes: listExaminedChanges(matching),
    css: matching.map(({ css }) => css).filter((css) => css.trim() !== ""),
    hasScript: matching.some(({ js }) => js.trim() !== ""),
    prefixes: matching.filter(({ match }) => match === "prefix").map((page) => page.url),
    late: matching.flatMap(({ changes }) => changes.flatMap(({ id, late }) => (late === true ? [id] : []))),
    isHere: (address) => matching.every((page) => matchesAddress(page, address)),
    idsAt: (address) =>
      pages
        .filter((page) => matchesAddress(page, address))
        .flatMap(({ changes }) => changes.map(({ id }) => id)),
  };
}

/**
 * Checks one page at one viewport width. A page that cannot be examined becomes a finding.
 *
 * @throws Error if the check is stopped or the browser has ended.
 */
async function examine(
  { live, requirements = [], signal }: CheckRequest,
  check: CheckContext,
  target: CheckTarget,
): Promise<PageResult | { findings: Finding[] }> {
  const { pageMs, checkMs } = check.limits;
  const fail = (message: string) => ({
    findings: [makeFinding(target, "fail", "page_failed", null, message)],
  });
  const deadline = createDeadline({ ms: pageMs, signal: check.signal, readStalledMs });
  try {
    return await deadline.run((limited) =>
      checkPage({ requirements }, { ...check, signal: limited }, target),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!live.isOpen()) throw error;
    if (check.signal.aborted)
      return fail(
        `The page was not examined: a check may take ${checkMs / 1_000} s. Check one viewport at a time.`,
      );
    if (deadline.remainingMs() < 1)
      return fail(`The page was not examined completely within ${pageMs / 1_000} s.`);
    return fail(errorText(error).split("\n")[0] ?? "");
  }
}

/**
 * Creates a finding for each address pattern for which no page is known, and a finding for a revision that has no
 * effect.
 */
function describeUnopenable({ pages }: VariantDocument, { unopenable }: ChosenPages): Finding[] {
  const findings = unopenable.map(({ url, message }) =>
    makeFinding({ url, viewport: null }, "fail", "page_failed", null, message),
  );
  if (pages.some(isEffective)) return findings;
  const message =
    "The revision has no change that is on, no css and no js, so there is nothing to check. Add a change first.";
  return [
    makeFinding({ url: pages[0]?.url ?? "", viewport: null }, "fail", "nothing_to_check", null, message),
  ];
}

/** Creates a note for each requirement whose page the check does not open. */
function listUnchecked({ requirements = [] }: CheckRequest, { urls }: ChosenPages): string[] {
  return requirements
    .filter((requirement) => !urls.some((url) => requirementsOf([requirement], url).length > 0))
    .map(
      ({ id, assertion }) =>
        `Requirement ${id} was not checked: the variant does not change ${assertion.url}.`,
    );
}

/** Sorts findings: failures first, then changes that were not examined, then warnings. */
function bySeverity(findings: Finding[]): Finding[] {
  const rank = ({ level, code }: Finding) => (level === "warn" ? 2 : code === "not_examined" ? 1 : 0);
  return findings.toSorted((one, other) => rank(one) - rank(other));
}
