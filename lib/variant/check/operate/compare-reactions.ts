import type { Control } from "#lib/injected/check/operate/find-controls.ts";
import type { OpenedItem } from "#lib/injected/check/operate/record-reaction.ts";
import type { FindingCode } from "../check-report.ts";
import type { Reaction } from "./operate-control.ts";

/** What a visitor no longer gets from a control. */
export type LostReaction = {
  code: FindingCode;
  message: string;
  level?: "warn";
  /** Whether nothing happened with the variant. A control that reacts only now and then looks the same. */
  isSilent?: true;
};

const ADVICE =
  "Listeners belong to elements, and setHtml replaces them: use setText, setAttribute or insert on the elements of the page, and keep their form, name, type and action.";

/**
 * Compares what a control does without the variant and with it. Only what is lost counts: a variant may make a control
 * do more.
 *
 * @param before null if the control could not be operated without the variant.
 * @returns undefined if nothing is lost.
 */
export function compareReaction(
  control: Pick<Control, "kind" | "label">,
  before: Reaction | null,
  after: Reaction | null,
): LostReaction | undefined {
  if (!before || !after) return undefined;
  if (control.kind === "submit") {
    const form = compareSubmit(control.label, before, after);
    if (form) return form;
  } else {
    const click = compareClick(control.label, before, after);
    if (click) return click;
  }
  return (
    compareOpened(control.label, before, after) ??
    compareFocus(control, before, after) ??
    compareErrors(control.label, before, after)
  );
}

/** Whether the page reacts to a control at all. */
export const isEffective = (reaction: Reaction): boolean =>
  hasEffect(reaction) || reaction.inside > 0 || reaction.isSubmitPrevented === true;

/** Finds a control that has an effect without the variant, and that no click reaches with it. */
export function compareBlocked(label: string, before: Reaction | null): LostReaction | undefined {
  if (!before || !isEffective(before)) return undefined;
  const message = `With the variant no click reaches ${label}: another element covers it, or its style has pointer-events: none.`;
  return { code: "covered", message };
}

const documentOf = ({ requests }: Reaction) => requests.find(({ isDocument }) => isDocument);
const nameOf = ({ method, address }: { method: string; address: string }) => `${method} ${address}`;

function compareSubmit(label: string, before: Reaction, after: Reaction): LostReaction | undefined {
  const dead = (problem: string): LostReaction => ({
    code: "dead_form",
    message: `${label} is dead: ${problem}. ${ADVICE}`,
  });
  const sent = before.requests;
  const isHandled = before.isSubmitPrevented === true;
  const hadEffect = sent.length > 0 || before.outside > 0 || before.isRouted || before.windows > 0;
  if (before.isSubmitPrevented !== null && after.isSubmitPrevented === null) {
    const reason =
      after.invalid === null
        ? "nothing is submitted when people press its button"
        : `its field "${after.invalid}" refuses a valid value, so nothing is submitted`;
    return dead(`${reason}, and without the variant it is`);
  }
  const left = documentOf(after);
  if (isHandled && left && !documentOf(before))
    return dead(
      `the page's own script no longer handles it, and the browser leaves the page with ${nameOf(left)}`,
    );
  const missing = sent.find(
    (request) =>
      !after.requests.some(
        (each) => each.method === request.method && each.isDocument === request.isDocument,
      ),
  );
  if (missing) return dead(`it no longer sends ${nameOf(missing)}`);
  for (const request of sent) {
    const counterpart =
      after.requests.find((each) => nameOf(each) === nameOf(request)) ??
      after.requests.find((each) => each.method === request.method && each.isDocument === request.isDocument);
    const fields = request.fields.filter(
      (field) => counterpart && !counterpart.fields.includes(field) && !before.removedFields.includes(field),
    );
    if (fields.length > 0)
      return dead(
        `it no longer sends ${fields
          .slice(0, 5)
          .map((field) => `"${field}"`)
          .join(", ")}`,
      );
  }
  if (hadEffect && sent.length === 0 && !hasEffect(after))
    return dead("nothing happens when people submit it, and without the variant the page reacts");
  return undefined;
}

const hasEffect = ({ requests, outside, isRouted, windows, opened }: Reaction): boolean =>
  requests.length > 0 || outside > 0 || isRouted || windows > 0 || opened.length > 0;

/**
 * Whether a page may have reacted after it had handled the click (decision 087). What it changes by itself, such as a carousel, is no
 * reaction; until that is known, only a reaction of another kind counts.
 */
const isLater = ({ requests, isRouted, windows, inside, outside, isIdleKnown }: Reaction): boolean =>
  requests.length > 0 || isRouted || windows > 0 || (isIdleKnown && inside + outside > 0);

function compareClick(label: string, before: Reaction, after: Reaction): LostReaction | undefined {
  const dead = (problem: string): LostReaction => ({
    code: "dead_control",
    message: `${problem} ${ADVICE}`,
  });
  const silent = (problem: string): LostReaction => ({ ...dead(problem), isSilent: true });
  const left = documentOf(after);
  if (left && !documentOf(before) && before.isClickPrevented === true && after.isClickPrevented === false)
    return dead(
      `The page's own script no longer handles ${label}: with the variant the browser leaves the page for ${left.address}.`,
    );
  const isUnhandled = before.isClickPrevented === true && after.isClickPrevented === false;
  if (isUnhandled && before.outside > 0 && after.outside === 0 && after.requests.length === 0)
    return dead(`The page's own script no longer handles ${label}.`);
  const missing = before.requests.find(
    (request) => !after.requests.some((each) => nameOf(each) === nameOf(request) || each.isDocument),
  );
  const isStill = !hasEffect(after) && after.inside === 0;
  const name = label.charAt(0).toUpperCase() + label.slice(1);
  if ((hasEffect(before) || before.inside > 0) && isStill)
    return silent(
      `${name} is dead: nothing happens when people use it, and without the variant the page reacts.`,
    );
  if (before.direct > 0 && after.direct === 0 && !isLater(after))
    return silent(`${name} is dead: without the variant the page reacts at once when people use it.`);
  if (missing && !missing.isDocument)
    return dead(`${name} no longer sends ${nameOf(missing)} when people use it.`);
  if (before.isRouted && !after.isRouted && !left)
    return dead(`${name} no longer leads to another view of the page.`);
  if (before.outside > 0 && after.outside === 0 && !hasEffect(after))
    return dead(`${name} no longer changes the rest of the page when people use it.`);
  return undefined;
}

const isSame = (left: OpenedItem, right: OpenedItem): boolean =>
  left.keys.some((key) => right.keys.includes(key));

function compareOpened(label: string, before: Reaction, after: Reaction): LostReaction | undefined {
  const shown = before.opened.filter(({ isReachable }) => isReachable);
  const hidden = shown.flatMap((item) => {
    const counterpart = after.opened.find((each) => isSame(each, item));
    return counterpart && !counterpart.isReachable ? [counterpart.label] : [];
  });
  if (hidden.length > 0)
    return {
      code: "trapped",
      message: `What ${label} opens is covered or cut off: people cannot see or use ${hidden.slice(0, 3).join(", ")}. A style of the variant (transform, filter, opacity, z-index, overflow, position) traps it; set the style on an element that does not contain it.`,
    };
  const isClosed = before.expanded === "true" && after.expanded === "false";
  if (shown.length > 0 && after.opened.length === 0 && isClosed)
    return {
      code: "dead_control",
      message: `With the variant ${label} no longer opens what it opens without, such as ${shown[0]?.label}. ${ADVICE}`,
    };
  return undefined;
}

function compareFocus(
  { kind, label }: Pick<Control, "kind" | "label">,
  before: Reaction,
  after: Reaction,
): LostReaction | undefined {
  const lost = (message: string): LostReaction => ({ code: "focus_lost", message });
  const advice = "Do not replace or move the element while people use it.";
  if (before.focus !== null && after.focus === null)
    return lost(
      `The focus is lost when people use ${label}; without the variant ${before.focusLabel} has it, so that keyboards and screen readers continue there. ${advice}`,
    );
  if (kind !== "type" || !before.value?.endsWith("12") || after.value?.endsWith("12")) return undefined;
  return lost(`What people type into ${label} is lost. ${advice}`);
}

function compareErrors(label: string, before: Reaction, after: Reaction): LostReaction | undefined {
  const [error] = after.errors.filter((each) => !before.errors.includes(each));
  if (error === undefined) return undefined;
  return {
    code: "console_error",
    message: `With the variant the page logs an error when people use ${label}: ${error}`,
  };
}
