import type { PageElement } from "#lib/dom/make-dom.ts";
import type { BeginningOf } from "#lib/text/whole-characters.ts";
import type { PageWatch } from "../page-watch.ts";
import type { DocumentWatch } from "../watch-document.ts";
import type { fillForm } from "./fill-form.ts";
import type { Control, ControlKind, makeControlFinder } from "./find-controls.ts";
import type { PageOperator, Point } from "./page-operator.ts";
import type { makeReactionRecorder, ReactionRecorder } from "./record-reaction.ts";

/** The element that has the focus when the page has loaded, and the change that it belongs to. */
type FirstFocus = { label: string; change: { id: string; op: string } | null };

/**
 * How a control is reached. `none`: the page has no such control now. `blocked`: it is visible, and clicks at its place
 * meet another element that does not lead to the same address.
 */
type Aim = { how: "point"; point: Point } | { how: "focus" } | { how: "none" } | { how: "blocked" };

/**
 * Creates the {@link PageOperator} of a document.
 */
export function makeOperator(
  watch: DocumentWatch,
  makeFinder: typeof makeControlFinder,
  makeRecorder: typeof makeReactionRecorder,
  fill: typeof fillForm,
  dangerous: string,
  beginningOf: BeginningOf,
): PageOperator {
  const { dom } = watch.newKit();
  const finder = makeFinder(dom, watch, dangerous, beginningOf);
  return {
    finder,
    recorder: makeRecorder(watch, finder),
    fill: (form) => fill(dom, form),
    find({ kind, keys }) {
      const found = finder.list(true).filter((control) => control.kind === kind);
      for (const key of keys) {
        const control = found.find((each) => each.keys.includes(key));
        if (control) return control;
      }
      return undefined;
    },
    toInput({ x, y }) {
      const { scale, offsetLeft, offsetTop } = window.visualViewport ?? {
        scale: 1,
        offsetLeft: 0,
        offsetTop: 0,
      };
      return { x: (x - offsetLeft) * scale, y: (y - offsetTop) * scale };
    },
  };
}

/** Lists the controls of a page. */
export function listControls(
  { operator, newKit }: PageWatch,
  { max, hasDistantFields }: { max: number; hasDistantFields: boolean },
): Control[] {
  const kit = newKit();
  return operator.finder
    .list(hasDistantFields)
    .slice(0, max)
    .map(({ element, ...control }) => ({
      ...control,
      label: operator.finder.labelOf(element),
      selector: kit.selectorOf(element),
    }));
}

/** Records which elements the page changes by itself. */
export const recordIdle = ({ operator }: PageWatch, idleMs: number): Promise<void> =>
  operator.recorder.recordIdle(idleMs);

/**
 * Scrolls a control into view, and starts to record. A form is filled first, and its submit button is aimed at: the one
 * with the keys `submitter`, wherever it is now. Without a submit button, its first field gets the focus.
 */
export async function aimAtControl(
  { operator, newKit }: PageWatch,
  wanted: { kind: ControlKind; keys: string[]; submitter: string[] | null },
): Promise<Aim & { submitter: string[] | null }> {
  const kit = newKit();
  const { dom } = kit;
  const { finder } = operator;
  const control = operator.find(wanted);
  const SUBMITS = "button:not([type=button], [type=reset]), input[type=submit], input[type=image]";
  const buttons =
    wanted.kind === "submit" ? kit.queryAll("button, input[type=submit], input[type=image]") : [];
  const wantedKeys = wanted.submitter ?? [];
  const known = wantedKeys
    .map((key) => buttons.find((each) => kit.isVisible(each) && finder.keysOf(each).includes(key)))
    .find((each) => each !== undefined);
  const own = (form: PageElement) =>
    buttons.find(
      (each) => dom.property(each, "form") === form && dom.matches(each, SUBMITS) && kit.isVisible(each),
    );
  const form = wanted.kind === "submit" ? control?.element : undefined;
  if (!control && !known) return { how: "none", submitter: null };
  if (form) operator.fill(form);
  const button = known ?? (form && own(form));
  const element = button ?? control?.element;
  if (!element) return { how: "none", submitter: null };
  const submitter = button ? finder.keysOf(button) : null;
  const isFocused = wanted.kind === "choose" || (wanted.kind === "submit" && !button);
  const field =
    isFocused && form ? kit.queryAll("input").find((each) => dom.property(each, "form") === form) : element;
  dom.scrollIntoView(element, { block: "center", inline: "nearest", behavior: "instant" });
  await new Promise((resolve) => setTimeout(resolve, 50));
  if (isFocused) {
    if (!field) return { how: "none", submitter };
    const focus = dom.property(field, "focus");
    if (typeof focus === "function") Reflect.apply(focus, field, []);
    operator.recorder.start(element);
    return { how: "focus", submitter };
  }
  const { left, top, width, height } = dom.getBoundingClientRect(element);
  const near = { x: left + Math.min(10, width / 2), y: top + Math.min(10, height / 2) };
  const points = [{ x: left + width / 2, y: top + height / 2 }, near];
  const hits = points.map(({ x, y }) => dom.elementFromPoint(dom.getRootNode(element), x, y));
  const isOwn = (hit: PageElement | null | undefined) =>
    !!hit && (finder.isWithin(element, hit) || (dom.shadowRoot(element) !== null && hit === element));
  const point = points.find((_, index) => isOwn(hits[index]));
  if (!point) {
    const hrefOf = (each: PageElement) => {
      const link = dom.closest(each, "a[href]");
      return link && dom.getAttribute(link, "href");
    };
    const href = hrefOf(element);
    // A link that covers a whole card leads where the card's other links lead.
    const isReached = hits.some((hit) => hit === null || (href !== null && hrefOf(hit) === href));
    return { how: isReached || !kit.isVisible(element) ? "none" : "blocked", submitter };
  }
  operator.recorder.start(element);
  return { how: "point", point: operator.toInput(point), submitter };
}

/**
 * Reads which element has the focus, and the change that it belongs to. Null if none has it.
 */
export function readFirstFocus({ operator, changes, verifier, newKit }: PageWatch): FirstFocus | null {
  const kit = newKit();
  const { finder } = operator;
  const focused = kit.queryAll(":focus").at(-1);
  if (!focused) return null;
  const around = changes.filter((each) =>
    verifier.subjects(kit, each).some((element) => finder.isWithin(element, focused)),
  );
  // Other changes keep the element where it is.
  const change = around.find(({ op }) => ["remove", "move", "setHtml", "setText"].includes(op)) ?? around[0];
  return { label: finder.labelOf(focused), change: change ? { id: change.id, op: change.op } : null };
}

/** Reads what happened since the control was aimed at. */
export async function readReaction({ operator }: PageWatch): Promise<ReturnType<ReactionRecorder["read"]>> {
  const ANIMATION_MS_MAX = 600;
  const isEnding = (animation: Animation) => animation.effect?.getComputedTiming().endTime !== Infinity;
  const running = document.getAnimations().filter(isEnding);
  const late = new Promise((resolve) => setTimeout(resolve, ANIMATION_MS_MAX));
  await Promise.race([Promise.allSettled(running.map(({ finished }) => finished)), late]);
  return operator.recorder.read();
}

/** Describes where an element that matches a selector can be clicked. Null if none is visible. */
export async function aimAtSelector(
  { newKit, operator }: PageWatch,
  selector: string,
): Promise<Point | "hidden" | null> {
  const kit = newKit();
  const { dom } = kit;
  const found = kit.queryAll(selector);
  const element = found.find(kit.isVisible);
  if (!element) return found.length > 0 ? "hidden" : null;
  dom.scrollIntoView(element, { block: "center", inline: "nearest", behavior: "instant" });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const { left, top, width, height } = dom.getBoundingClientRect(element);
  return operator.toInput({ x: left + width / 2, y: top + height / 2 });
}

/** Whether a control says that it is open. */
export function isExpanded({ operator, newKit }: PageWatch, keys: string[]): boolean {
  const { dom } = newKit();
  const control = operator.find({ kind: "click", keys });
  const details =
    control && dom.localName(control.element) === "summary" && dom.parentElement(control.element);
  if (!control) return false;
  return details
    ? dom.hasAttribute(details, "open")
    : dom.getAttribute(control.element, "aria-expanded") === "true";
}
