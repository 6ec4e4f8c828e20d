import type { PageElement, PageNode } from "../../dom/make-dom.ts";
import { createEffect } from "./create-effect.ts";
import { dom } from "./dom.ts";
import type { Effect } from "./effect.ts";
import { findElements } from "./find-elements.ts";
import { isBlocked } from "./hydration.ts";
import { filter, reverse, some } from "./lists.ts";
import { type History, readLabel, recordApplication } from "./reapply-limit.ts";
import type { ChangeReport, CompiledChange } from "./runtime-types.ts";
import { shared } from "./shared-state.ts";

/** The application of a change to one element. */
type Binding = {
  effect: Effect;
  target: PageElement | undefined;
  history: History;
  label: string;
  /**
   * Whether the selector no longer matches the element because of the variant's own changes. The element then keeps the
   * change.
   */
  isUnmatched: boolean | undefined;
};

/** A change of a page whose address pattern matches the current address. */
export type RunningChange = {
  /** Finds the elements that match now. The caller lets all changes search before it applies any of them. */
  search: () => void;
  /**
   * Applies the change to the elements that `search` has found, and reverts it on elements that no longer match.
   *
   * @param isOwnDoing whether only the variant itself has changed the document since the last call
   * @returns whether this call changed the document.
   */
  reconcile: (isOwnDoing: boolean) => boolean;
  /**
   * Checks whether the change is still in place, and applies it again where it is not.
   *
   * @param isOwnDoing whether only the variant itself has changed the document since the last call
   * @param mutated the nodes that the page has changed; if undefined, all elements are checked
   * @returns whether this call changed the document.
   */
  verify: (isOwnDoing: boolean, mutated?: Set<PageNode>) => boolean;
  /** Whether the page has removed an element that has the change, or other nodes that the change needs. */
  hasLost: () => boolean;
  report: () => ChangeReport;
  undo: () => void;
};

const HISTORIES_MAX = 1_000;

/**
 * Creates a running change. Call `search` and `reconcile` to apply it.
 *
 * @param when the point of the page's load from which the change may be applied; by default after hydration
 * @param onApply called with the document or shadow root of each element to which the change is applied
 */
export function createRunningChange(
  change: CompiledChange,
  onApply: (root: PageNode) => void,
  when: string | undefined,
): RunningChange {
  const bindings = new Map<PageElement, Binding>();
  /** Histories of elements that no longer have the change, by the label of the element. */
  const histories = new Map<string, History>();
  /** Elements that match only because the variant has changed their surroundings. */
  const ignored = new Set<PageElement>();
  /**
   * Elements that cannot be changed yet. The value is true if the selector no longer matches the element because of the
   * variant's own changes.
   */
  const waiting = new Map<PageElement, boolean | undefined>();
  let found: PageElement[] = [];
  let target: PageElement | undefined;
  let matches = 0;
  let reapplied = 0;
  let appliedAtMs: number | null = null;
  let isFight = false;
  let error: string | null = null;

  const attempt = <Value>(work: () => Value): Value | undefined => {
    try {
      return work();
    } catch (reason) {
      // The cast is safe: only the runtime and the browser throw here.
      error ??= (reason as Error).message;
    }
  };

  /**
   * Whether the change must wait until the parser has read all of an element's content. This is necessary for a change
   * that replaces the content or places nodes at its end, because the parser would add more content after these nodes.
   */
  const needsContent = change.op === "content" || ("position" in change && change.position === "end");

  /** Whether an element must not be changed yet, or `when` is invalid. */
  const isEarly = (element: PageElement) => attempt(() => isBlocked(element, needsContent, when)) !== false;

  const isLost = (element: PageElement, { effect }: Binding) =>
    effect.isLost?.() ?? !dom.isConnected(element);

  function mayApply(history: History): boolean {
    if (isFight || error !== null) return false;
    isFight = !recordApplication(history);
    return !isFight;
  }

  function apply(element: PageElement, effect: Effect): void {
    attempt(effect.put);
    if (error === null) appliedAtMs ??= performance.now();
    onApply(dom.getRootNode(element));
  }

  function bind(element: PageElement, isUnmatched: boolean | undefined): boolean {
    // If several elements match, each element has its own history, found by its texts. With a shared history, the rows
    // that appear while a long list is scrolled would exceed the limit.
    const label = found.length > 1 ? readLabel(element) : "";
    const old = histories.get(label);
    const history = old ?? { times: [], count: 0 };
    if (!mayApply(history)) return false;
    const effect = attempt(() => createEffect(change, element, target));
    if (!effect) return false;
    if (old) reapplied++;
    bindings.set(element, { effect, target, history, label, isUnmatched });
    apply(element, effect);
    return true;
  }

  function unbind(element: PageElement, { effect, label, history }: Binding): void {
    bindings.delete(element);
    if (histories.size > HISTORIES_MAX) histories.clear();
    histories.set(label, history);
    attempt(effect.undo);
  }

  /**
   * Reverts the change on elements that left the document or no longer match, and on all elements if a move has another
   * target now. An element keeps the change if it no longer matches only because of the variant's own changes.
   */
  function release(isOwnDoing: boolean): void {
    const matching = new Set(found);
    for (const element of ignored) if (!matching.has(element)) ignored.delete(element);
    for (const [element, binding] of bindings) {
      const isMatch = matching.has(element);
      const isOver = isMatch ? binding.target !== target : !isOwnDoing && !binding.isUnmatched;
      if (isOver || isLost(element, binding)) unbind(element, binding);
      binding.isUnmatched = !isMatch;
    }
    for (const [element, isUnmatched] of waiting)
      if (matching.has(element) || isOwnDoing || isUnmatched) waiting.set(element, !matching.has(element));
      else waiting.delete(element);
  }

  return {
    search() {
      if (error !== null) return;
      // A move, or a change that builds elements, must not match nodes that a runtime has built. Otherwise it could
      // match its own nodes again and again.
      const isBuilding =
        change.op === "move" || ("nodes" in change && some(change.nodes, (node) => typeof node !== "string"));
      const find = (selector: CompiledChange["selector"]) => attempt(() => findElements(selector)) ?? [];
      found = filter(find(change.selector), (each) => !isBuilding || !shared.built.has(each));
      if (change.op === "move") target = find(change.target)[0];
    },
    reconcile(isOwnDoing) {
      if (error !== null) return false;
      const count = bindings.size;
      const isShifted = isOwnDoing && count > 0 && change.isPositional;
      release(isOwnDoing);
      let isChanged = bindings.size < count;
      matches = 0;
      for (const element of new Set([...found, ...waiting.keys()])) {
        if (isShifted && !bindings.has(element) && !waiting.has(element)) ignored.add(element);
        // Reverting a lost change can take an element out of the document, for example a moved one.
        if (ignored.has(element) || !dom.isConnected(element)) continue;
        matches++;
        if (bindings.has(element)) continue;
        const isUnmatched = waiting.get(element);
        if (isEarly(element)) waiting.set(element, isUnmatched);
        else if (change.op !== "move" || (target && !isEarly(target))) {
          waiting.delete(element);
          isChanged = bind(element, isUnmatched) || isChanged;
        }
      }
      for (const { isUnmatched } of bindings.values()) if (isUnmatched) matches++;
      return isChanged;
    },
    verify(isOwnDoing, mutated) {
      let isChanged = false;
      // The changes of one variant can only displace each other's nodes, so only changes with a position are checked.
      if (isOwnDoing && !("position" in change)) return false;
      for (const [element, binding] of bindings) {
        const { effect, history } = binding;
        if (mutated && !some(effect.watched(), (node) => node && mutated.has(node))) continue;
        if (isLost(element, binding) || attempt(effect.isIntact) !== false || isFight || error !== null)
          continue;
        if (!isOwnDoing && !mayApply(history)) continue;
        if (!isOwnDoing) reapplied++;
        apply(element, effect);
        isChanged = true;
      }
      return isChanged;
    },
    hasLost: () => some([...bindings], ([element, binding]) => isLost(element, binding)),
    report() {
      const applied = filter([...bindings.values()], ({ effect }) => attempt(effect.isIntact)).length;
      const progress = isFight ? "fight" : applied > 0 ? "applied" : "waiting";
      const state = error === null ? progress : "error";
      return { id: change.id, state, matches, applied, reapplied, appliedAtMs, error };
    },
    undo() {
      for (const [element, binding] of reverse([...bindings])) unbind(element, binding);
    },
  };
}
