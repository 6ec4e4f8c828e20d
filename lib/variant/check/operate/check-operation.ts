import type { Finding } from "../check-report.ts";
import type { PageWatch } from "../inside/page-watch.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import { openLoad, type PageLoad } from "../load/open-load.ts";
import { settleAll } from "../load/settle-all.ts";
import { settleControl, settleVariant, untilApplied } from "../load/settle-load.ts";
import { makeFinding } from "../make-finding.ts";
import type { CheckedChange } from "../steps/judge-changes.ts";
import { followSubmit } from "./follow-submits.ts";
import { guardRequests } from "./guard-requests.ts";
import type { Control } from "./inside/find-controls.ts";
import { listControls, recordIdle } from "./inside/operator.ts";
import { judgeReaction, type LostReaction } from "./judge-reactions.ts";
import { closeOpened, type OperatedLoad, operateControl } from "./operate-control.ts";
import { type ControlPair, pairControls } from "./pair-controls.ts";

const CONTROLS_MAX = 10;
const FORMS_MAX = 5;
/** How many defects are confirmed. */
const CONFIRMED_MAX = 8;
const LISTED_MAX = 300;
/** How near to a change a form must be to be submitted. */
const FORM_RANK_MAX = 3;
/** How long a page is watched for changes that it makes by itself, in milliseconds. */
const IDLE_MS = 1_200;

/** The same page without the variant and with it, opened to be operated. */
type OperatedPair = { control: OperatedLoad; variant: OperatedLoad };
/** A control that lost something. `before` is null for a form that only the variant has. */
type Suspect = LostReaction & { changeId: string | null; before: Control | null; after: Control };

/**
 * Operates the controls in and around the changes with the mouse and the keyboard, on the page without the variant and
 * with it, and compares what happens: forms are filled and submitted, buttons and links clicked, fields typed into. The
 * changes must hold while the page renders its own content again. A defect counts only if it happens again on fresh
 * loads, where nothing else was operated, so what happens now and then is none.
 *
 * @param changes the changes that are applied. Sets `rerender` to failed for a change that was lost.
 */
export async function checkOperation(
  check: CheckContext,
  target: CheckTarget,
  changes: CheckedChange[],
): Promise<{ findings: Finding[]; notes: string[] }> {
  if (changes.length === 0 && target.css.length === 0 && !target.hasScript)
    return { findings: [], notes: [] };
  const ids = changes.map(({ id }) => id);
  const suspects: Suspect[] = [];
  const notes: string[] = [];
  await withPair(check, target, ids, async (pair) => {
    const [originals, controls] = await settleAll([
      pair.control.load.look(listControls, LISTED_MAX),
      pair.variant.load.look(listControls, LISTED_MAX),
    ]);
    const { pairs, added } = pairControls(originals, controls);
    const chosen = chooseControls(pairs);
    const endMs = performance.now() + check.limits.operateMs;
    let done = 0;
    for (const each of chosen) {
      if (performance.now() > endMs) break;
      const suspect = await operatePair(check, target, pair, each, ids);
      if (suspect) suspects.push(suspect);
      done += 1;
    }
    const forms = added.filter(({ kind, rank }) => kind === "submit" && rank === 0).slice(0, FORMS_MAX);
    for (const form of forms) {
      const suspect = await submitAdded(check, pair.variant, form);
      if (suspect) suspects.push(suspect);
    }
    if (done < chosen.length)
      notes.push(
        `${target.url} (${target.viewport}): ${chosen.length - done} controls were not operated, because the page is slow.`,
      );
  });
  const confirmed = await confirmSuspects(check, target, ids, selectDistinct(suspects));
  const findings = confirmed.map(({ code, changeId, message }) => {
    for (const change of changes)
      if (change.id === changeId && code === "lost_at_render") change.rerender = "failed";
    return makeFinding(target, "fail", code, changeId, capitalize(message));
  });
  return { findings, notes };
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Chooses the controls to operate: the nearest ones, and forms last, because submitting may change the whole page. */
function chooseControls(pairs: ControlPair[]): ControlPair[] {
  const isForm = ({ before }: ControlPair) => before.kind === "submit";
  const others = pairs.filter((pair) => !isForm(pair)).slice(0, CONTROLS_MAX);
  const forms = pairs.filter((pair) => isForm(pair) && pair.before.rank <= FORM_RANK_MAX);
  return [...others, ...forms.slice(0, FORMS_MAX)];
}

/** Opens both loads, waits until they have settled, and closes them afterwards. */
async function withPair<Result>(
  check: CheckContext,
  target: CheckTarget,
  ids: string[],
  work: (pair: OperatedPair) => Promise<Result>,
): Promise<Result> {
  const loads: PageLoad[] = [];
  const open = async (hasVariant: boolean): Promise<OperatedLoad> => {
    const load = await openLoad(check, target, hasVariant);
    loads.push(load);
    if (hasVariant) await settleVariant(load, check, target, ids);
    else await settleControl(load, check, target);
    return { load, guard: await guardRequests(load, check.allowSubmits) };
  };
  try {
    const [control, variant] = await settleAll([open(false), open(true)]);
    return await work({ control, variant });
  } finally {
    await Promise.all(loads.map((load) => load.close()));
  }
}

/** Operates one control on both loads, and finds what the variant loses. */
async function operatePair(
  check: CheckContext,
  target: CheckTarget,
  { control, variant }: OperatedPair,
  { before, after }: ControlPair,
  ids: string[],
): Promise<Suspect | undefined> {
  const changeId = before.changeId ?? after.changeId;
  const held = await variant.load.look(readHeld, ids);
  const operate = (load: OperatedLoad, { kind, keys }: Control, submitter: string[] | null = null) =>
    operateControl(check, load, { kind, keys }, submitter);
  // With the variant, a form is submitted with the button that submits it without, wherever the button is now.
  const first = before.kind === "submit" ? await operate(control, before) : null;
  const [original, reaction] = await settleAll([
    first ? Promise.resolve(first) : operate(control, before),
    operate(variant, after, first?.submitter),
  ]);
  const lost =
    judgeReaction(before, original, reaction) ??
    (before.kind === "submit" && reaction
      ? await followSubmit(check, variant.load, before.label, original, reaction)
      : undefined);
  if (lost) return { ...lost, changeId, before, after };
  const gone = reaction && (await findLost(check, target, variant.load, held, before.label));
  if (original) await closeOpened(check, control, before, original);
  if (reaction) await closeOpened(check, variant, after, reaction);
  return gone ? { ...gone, before, after } : undefined;
}

async function submitAdded(
  check: CheckContext,
  variant: OperatedLoad,
  form: Control,
): Promise<Suspect | undefined> {
  const reaction = await operateControl(check, variant, form);
  const lost = reaction && (await followSubmit(check, variant.load, form.label, null, reaction));
  return lost ? { ...lost, changeId: form.changeId, before: null, after: form } : undefined;
}

/** Repeats defects on fresh loads. Returns those that are the same as before. */
async function confirmSuspects(
  check: CheckContext,
  target: CheckTarget,
  ids: string[],
  suspects: Suspect[],
): Promise<Suspect[]> {
  if (suspects.length === 0) return [];
  return withPair(check, target, ids, async (pair) => {
    const { control, variant } = pair;
    await settleAll([control.load.look(recordIdle, IDLE_MS), variant.load.look(recordIdle, IDLE_MS)]);
    const confirmed: Suspect[] = [];
    for (const { before, after, code } of suspects) {
      const again = before
        ? await operatePair(check, target, pair, { before, after }, ids)
        : await submitAdded(check, variant, after);
      if (again?.code === code) confirmed.push(again);
    }
    return confirmed;
  });
}

/** One defect for each change and kind: a replaced container loses all of its listeners at once. */
function selectDistinct(suspects: Suspect[]): Suspect[] {
  const groups = Map.groupBy(suspects, ({ code, changeId }) => `${code} ${changeId}`);
  return [...groups.values()].flatMap(([first]) => first ?? []).slice(0, CONFIRMED_MAX);
}

/** The state of changes on a load, by change id. */
type Held = Record<string, { isApplied: boolean; matched: number; copies: number }>;

/** Reads which changes hold. The source of this function is sent to the page and runs there. */
function readHeld(watch: PageWatch, ids: string[]): Held {
  const verdicts = watch.verdicts(false);
  const kit = watch.newKit();
  return Object.fromEntries(
    watch.changes
      .filter(({ id }) => ids.includes(id))
      .map((change) => {
        const { isApplied = false, matched = 0 } = verdicts[change.id] ?? {};
        return [change.id, { isApplied, matched, copies: watch.verifier.copies(kit, change) }];
      }),
  );
}

/** Finds a change that held before a control was operated, and no longer does, although the page has its elements. */
async function findLost(
  check: CheckContext,
  target: CheckTarget,
  load: PageLoad,
  held: Held,
  label: string,
): Promise<(LostReaction & { changeId: string }) | undefined> {
  const wanted = Object.keys(held).filter((id) => held[id]?.isApplied);
  const isLost = (now: Held, id: string) => {
    const [was, is] = [held[id], now[id]];
    return is !== undefined && is.matched > 0 && !is.isApplied && was !== undefined;
  };
  const isRepeated = (now: Held, id: string) => {
    const [was, is] = [held[id], now[id]];
    return was !== undefined && is !== undefined && is.copies > Math.max(was.copies, is.matched);
  };
  let now = await load.look(readHeld, wanted);
  const suspicious = wanted.filter((id) => isLost(now, id));
  if (suspicious.length > 0) {
    await untilApplied(load, check, suspicious, check.limits.rerenderMs);
    now = await load.look(readHeld, wanted);
  }
  for (const id of wanted) {
    const { op = "", selector = "" } = target.changes.find((change) => change.id === id) ?? {};
    const when = `after people use ${label}, which renders its surroundings again`;
    if (isLost(now, id))
      return {
        code: "lost_at_render",
        changeId: id,
        message: `The ${op} of "${selector}" is lost ${when}. Choose a selector that also matches what the page renders then.`,
      };
    if (isRepeated(now, id))
      return {
        code: "repeated",
        changeId: id,
        message: `The HTML of the ${op} of "${selector}" is on the page ${now[id]?.copies} times ${when}.`,
      };
  }
  return undefined;
}
