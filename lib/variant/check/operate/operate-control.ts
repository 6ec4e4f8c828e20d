import type { Control, ControlKind } from "#lib/injected/check/operate/find-controls.ts";
import type { SeenReaction } from "#lib/injected/check/operate/record-reaction.ts";
import type { CheckContext } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import { copyProblems, listNewErrors } from "../load/page-problems.ts";
import type { RequestGuard, SeenRequest } from "./guard-requests.ts";
import { sendInput, untilReacted } from "./send-input.ts";

/** A load whose controls are operated. */
export type OperatedLoad = {
  load: PageLoad;
  guard: RequestGuard;
};

/** What happened after a control was operated. */
export type Reaction = SeenReaction & {
  requests: SeenRequest[];
  /** Whether the page's router changed the address. */
  isRouted: boolean;
  windows: number;
  errors: string[];
  /** Keys of the button that submitted the form. */
  submitter: string[] | null;
};

/** A control in one load. */
type Aimed = Pick<Control, "keys"> & { kind: ControlKind };

/** What is typed into a field, a character at a time, because pages react to each. */
const TYPED = ["1", "2"];

/**
 * Operates a control with the mouse or the keyboard, as a visitor does, and waits until the page has reacted.
 *
 * @param submitter keys of the button that submits the form on the original page. Null to use the form's own.
 * @returns null if the page has no such control now, and `blocked` if clicks at its place meet another element.
 */
export async function operateControl(
  check: CheckContext,
  { load, guard }: OperatedLoad,
  { kind, keys }: Aimed,
  submitter: string[] | null = null,
): Promise<Reaction | "blocked" | null> {
  const aim = await load.look("aimAtControl", { kind, keys, submitter });
  if (aim.how === "none") return null;
  if (aim.how === "blocked") return "blocked";
  guard.drain();
  const before = {
    url: load.page.url(),
    windows: load.countWindows(),
    problems: copyProblems(load.problems),
  };
  const { mouse, keyboard } = load.page;
  const press = (key: string) => sendInput(check, load, () => keyboard.press(key));
  if (aim.how === "point") {
    const { x, y } = aim.point;
    await sendInput(check, load, () => mouse.click(x, y));
  }
  if (kind === "submit" && aim.how === "focus") await press("Enter");
  if (kind === "choose") await press("ArrowDown");
  if (kind === "type") {
    await press("End");
    for (const character of TYPED) {
      await press(character);
      await untilReacted(load);
    }
  }
  await untilReacted(load, kind === "type");
  const seen = await load.look("readReaction", null);
  const reaction = {
    ...seen,
    requests: guard.drain(),
    isRouted: load.page.url() !== before.url,
    windows: load.countWindows() - before.windows,
    errors: listNewErrors(load.problems, [before.problems]),
    submitter: aim.submitter,
  };
  if (reaction.isRouted) {
    await load.look("goBack", null);
    await untilReacted(load);
  }
  return reaction;
}

/** Closes what a control has opened, so that it does not cover the next control. */
export async function closeOpened(
  check: CheckContext,
  operated: OperatedLoad,
  control: Aimed,
  reaction: Reaction,
): Promise<void> {
  const { load } = operated;
  if (reaction.opened.length === 0 && reaction.expanded !== "true") return;
  await sendInput(check, load, () => load.page.keyboard.press("Escape"));
  await untilReacted(load);
  if (reaction.expanded !== "true" || control.kind !== "click") return;
  const isStillOpen = await load.look("isExpanded", control.keys);
  if (isStillOpen) await operateControl(check, operated, control);
}
