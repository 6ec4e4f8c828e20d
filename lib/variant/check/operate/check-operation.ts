import { setTimeout as sleep } from "node:timers/promises";
import type { Control } from "#lib/injected/check/operate/find-controls.ts";
import type { Finding } from "../check-report.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import { openLoad, type PageLoad } from "../load/open-load.ts";
import { settleAll } from "../load/wait-for-all.ts";
import { waitForControl, waitForVariant } from "../load/wait-for-load.ts";
import { makeFinding } from "../make-finding.ts";
import type { CheckedChange } from "../steps/check-changes.ts";
import { compareBlocked, compareReaction, isEffective, type LostReaction } from "./compare-reactions.ts";
import { findLostChanges } from "./find-lost-changes.ts";
import { followSubmit } from "./follow-submits.ts";
import { guardRequests } from "./guard-requests.ts";
import { closeOpened, type OperatedLoad, operateControl } from "./operate-control.ts";
import { type ControlPair, pairControls } from "./pair-controls.ts";
import { sendInput, untilReacted } from "./send-input.ts";

const CONTROLS_MAX = 10;
const FORMS_MAX = 5;
/** How many defects are confirmed. */
const CONFIRMED_MAX = 8;
/** How often a control without a reaction is operated again. */
const SILENT_RUNS = 5;
const LISTED_MAX = 300;
/** How near to a change a form must be to be submitted. */
const FORM_RANK_MAX = 3;
/** How long a page is watched for changes that it makes by itself, in milliseconds. */
const IDLE_MS = 1_200;
/** How long a control that something covers is tried again, in milliseconds. */
const FREE_MS_MAX = 1_000;
const FREE_STEP_MS = 50;

type OperationResult = {
  findings: Finding[];
  notes: string[];
  /** Selectors of the controls that showed a hidden change, by change id. */
  openers: Record<string, string>;
};
/** The same page without the variant and with it, opened to be operated. */
type OperatedPair = { control: OperatedLoad; variant: OperatedLoad };
/**
 * Something that a visitor no longer gets. `before` is null for a form that only the variant has, and `after` for what
 * is lost before a control was operated.
 */
type Suspect = LostReaction & { changeId: string | null; before: Control | null; after: Control | null };

/**
 * Operates the controls in and around the changes with the mouse and the keyboard, on the page without the variant and
 * with it, and compares what happens: forms are filled and submitted, buttons and links clicked, fields typed into. The
 * changes must hold while the page renders its own content again. A defect counts only if it happens again on fresh
 * loads, where nothing else was operated, so what happens now and then is none.
 *
 * @param changes the changes that are applied.
 */
export async function checkOperation(
  check: CheckContext,
  target: CheckTarget,
  changes: CheckedChange[],
): Promise<OperationResult> {
  if (changes.length === 0 && target.css.length === 0 && !target.hasScript)
    return { findings: [], notes: [], openers: {} };
  const ids = changes.map(({ id }) => id);
  const hidden = changes.flatMap(({ id, reason }) => (typeof reason === "string" ? [id] : []));
  const openers: Record<string, string> = {};
  const suspects: Suspect[] = [];
  const notes: string[] = [];
  const listed = { max: LISTED_MAX, hasDistantFields: target.hasScript };
  await withPair(check, target, ids, async (pair) => {
    const [originals, controls] = await settleAll([
      pair.control.load.look("listControls", listed),
      pair.variant.load.look("listControls", listed),
    ]);
    suspects.push(...(await checkFirstFocus(pair)), ...(await checkKeys(check, target, pair)));
    const { pairs, added } = pairControls(originals, controls);
    const chosen = chooseControls(pairs);
    const endMs = performance.now() + check.limits.operateMs;
    let done = 0;
    for (const each of chosen) {
      if (performance.now() > endMs) break;
      suspects.push(
        ...(await operatePair(check, target, pair, each, ids, async (load) => {
          if (hidden.length === 0 || each.after.selector === null) return;
          for (const id of await load.look("listShown", hidden)) openers[id] ??= each.after.selector;
        })),
      );
      done += 1;
    }
    const forms = added.filter(({ kind, rank }) => kind === "submit" && rank === 0).slice(0, FORMS_MAX);
    for (const form of forms) {
      suspects.push(...(await submitAdded(check, pair.variant, form)));
    }
    if (done < chosen.length)
      notes.push(
        `${target.url} (${target.viewport}): ${chosen.length - done} controls were not operated, because the page is slow.`,
      );
  });
  const confirmed = await confirmSuspects(check, target, ids, selectDistinct(suspects));
  const findings = confirmed.map(({ code, changeId, message, level }) =>
    makeFinding(target, level ?? "fail", code, changeId, capitalize(message)),
  );
  return { findings, notes, openers };
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
    if (hasVariant) await waitForVariant(load, check, target, ids);
    else await waitForControl(load, check, target);
    return { load, guard: await guardRequests(load, check.allowSubmits) };
  };
  try {
    const [control, variant] = await settleAll([open(false), open(true)]);
    return await work({ control, variant });
  } finally {
    await Promise.all(loads.map((load) => load.close()));
  }
}

/**
 * Operates one control on both loads, and finds what the variant loses.
 *
 * @param onOperated is called before what the control has opened is closed again.
 */
async function operatePair(
  check: CheckContext,
  target: CheckTarget,
  { control, variant }: OperatedPair,
  { before, after }: ControlPair,
  ids: string[],
  onOperated: (variant: PageLoad) => Promise<void> = async () => {},
): Promise<Suspect[]> {
  const changeId = before.changeId ?? after.changeId;
  const held = await variant.load.look("readHeld", ids);
  const operate = (load: OperatedLoad, { kind, keys }: Control, submitter: string[] | null = null) =>
    operateControl(check, load, { kind, keys }, submitter);
  // With the variant, a form is submitted with the button that submits it without, wherever the button is now.
  const first = before.kind === "submit" ? await operate(control, before) : null;
  const submitter = first === "blocked" ? undefined : first?.submitter;
  const operateVariant = () => operate(variant, after, submitter);
  const [expected, seen] = await settleAll([
    first ? Promise.resolve(first) : operate(control, before),
    operateVariant(),
  ]);
  const original = expected === "blocked" ? null : expected;
  const operated =
    seen === "blocked" && original && isEffective(original) ? await untilFree(operateVariant) : seen;
  const reaction = operated === "blocked" ? null : operated;
  const lost =
    compareReaction(before, original, reaction) ??
    (operated === "blocked" ? compareBlocked(before.label, original) : undefined) ??
    (before.kind === "submit" && reaction
      ? await followSubmit(check, variant.load, before.label, original, reaction)
      : undefined);
  const gone = reaction ? await findLostChanges(check, target, variant.load, held, before.label) : [];
  await onOperated(variant.load);
  if (original) await closeOpened(check, control, before, original);
  if (reaction) await closeOpened(check, variant, after, reaction);
  return [...(lost ? [{ ...lost, changeId }] : []), ...gone].map((each) => ({ ...each, before, after }));
}

/** Operates a control again until it can be reached: what moves over a control, such as a slide, leaves it again. */
async function untilFree(
  operate: () => ReturnType<typeof operateControl>,
): ReturnType<typeof operateControl> {
  for (const endMs = performance.now() + FREE_MS_MAX; performance.now() < endMs; ) {
    await sleep(FREE_STEP_MS);
    const operated = await operate();
    if (operated !== "blocked") return operated;
  }
  return "blocked";
}

/** Finds a focus that the page sets by itself, for example with `autofocus`, and that the variant takes away. */
async function checkFirstFocus({ control, variant }: OperatedPair): Promise<Suspect[]> {
  const [before, after] = await settleAll([
    control.load.look("readFirstFocus", null),
    variant.load.look("readFirstFocus", null),
  ]);
  if (!before || after || before.change?.op === "remove") return [];
  const suspect: Suspect = {
    code: "focus_lost",
    changeId: before.change?.id ?? null,
    message: `${before.label} has the focus when the page has loaded, and with the variant it loses the focus when the variant is applied: people who type have to click it first. Change attributes and texts of the element, and do not replace or move it.`,
    before: null,
    after: null,
  };
  return [suspect];
}

/**
 * Finds a script of the variant that cancels keys: the Tab key then moves the focus nowhere, and without the variant it
 * does. A dialog that keeps the focus inside moves it itself.
 */
async function checkKeys(
  check: CheckContext,
  target: CheckTarget,
  { control, variant }: OperatedPair,
): Promise<Suspect[]> {
  if (!target.hasScript) return [];
  const press = async ({ load }: OperatedLoad) => {
    await load.look("recordTab", null);
    await sendInput(check, load, () => load.page.keyboard.press("Tab"));
    await untilReacted(load);
    return load.look("readTab", null);
  };
  const [before, after] = await settleAll([press(control), press(variant)]);
  if (!before.isMoved || after.isMoved || !after.isPrevented) return [];
  const message =
    "With the variant the Tab key no longer moves the focus: its js cancels the key, so people who use a keyboard reach nothing. Let the js cancel only the keys that it handles itself.";
  return [{ code: "dead_control", changeId: null, message, before: null, after: null }];
}

async function submitAdded(check: CheckContext, variant: OperatedLoad, form: Control): Promise<Suspect[]> {
  const reaction = await operateControl(check, variant, form);
  if (!reaction || reaction === "blocked") return [];
  const lost = await followSubmit(check, variant.load, form.label, null, reaction);
  return lost ? [{ ...lost, changeId: form.changeId, before: null, after: form }] : [];
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
    const repeat = async (before: Control | null, after: Control | null) => {
      if (!after) return initial;
      return before
        ? operatePair(check, target, pair, { before, after }, ids)
        : submitAdded(check, variant, after);
    };
    await settleAll([control.load.look("recordIdle", IDLE_MS), variant.load.look("recordIdle", IDLE_MS)]);
    const confirmed: Suspect[] = [];
    const initial = [...(await checkFirstFocus(pair)), ...(await checkKeys(check, target, pair))];
    // Each control is operated once, because what it breaks, such as several changes at once, stays broken.
    for (const [after, group] of Map.groupBy(suspects, (suspect) => suspect.after)) {
      const again = await repeat(group[0]?.before ?? null, after);
      const isSame = (each: Suspect) =>
        group.some(({ code, changeId }) => each.code === code && each.changeId === changeId);
      const same = again.filter(isSame);
      const isChance = same.some(({ isSilent }) => isSilent) && (await reactsLater(check, variant, after));
      confirmed.push(...same.filter(({ isSilent }) => !(isChance && isSilent)));
    }
    return confirmed;
  });
}

/** Operates a control that did nothing again, and finds out whether it only reacts now and then. */
async function reactsLater(
  check: CheckContext,
  variant: OperatedLoad,
  control: Control | null,
): Promise<boolean> {
  for (let run = 0; control && run < SILENT_RUNS; run += 1) {
    const reaction = await operateControl(check, variant, control);
    if (reaction && reaction !== "blocked" && reaction.direct > 0) return true;
  }
  return false;
}

/** One defect for each change and kind: a replaced container loses all of its listeners at once. */
function selectDistinct(suspects: Suspect[]): Suspect[] {
  const groups = Map.groupBy(suspects, ({ code, changeId }) => `${code} ${changeId}`);
  return [...groups.values()].flatMap(([first]) => first ?? []).slice(0, CONFIRMED_MAX);
}
