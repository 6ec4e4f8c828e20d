import { createEffect } from "./create-effect.ts";
import type { Effect } from "./effect.ts";
import { findElements } from "./find-elements.ts";
import { isBlocked } from "./hydration.ts";
import { type History, readLabel, recordApplication } from "./reapply-limit.ts";
import type { ChangeReport, CompiledChange } from "./runtime-types.ts";
import { shared } from "./shared-state.ts";

/** A change on one element. */
type Binding = {
  effect: Effect;
  target: Element | undefined;
  history: History;
  label: string;
  /** Whether the variant's own changes made the selector stop matching. The element then keeps the change. */
  isUnmatched: boolean | undefined;
};

/** A change that is applied to the current page. */
export type RunningChange = {
  /** Finds the elements that match now. All changes search before any is applied. */
  search: () => void;
  /**
   * Applies the change to the elements that were found, and reverts it on others.
   *
   * @param isOwnDoing whether only the variant has changed the document since the last call
   * @returns whether the document was changed.
   */
  reconcile: (isOwnDoing: boolean) => boolean;
  /**
   * Applies the change again where it is no longer in place.
   *
   * @param isOwnDoing whether only the variant has changed the document since the last call
   * @param mutated nodes that the page has mutated; any if undefined
   * @returns whether the document was changed.
   */
  verify: (isOwnDoing: boolean, mutated?: Set<Node>) => boolean;
  /** Whether an element that carries the change has left the document. */
  hasLost: () => boolean;
  report: () => ChangeReport;
  undo: () => void;
};

const HISTORIES_MAX = 1_000;

/**
 * Starts a change; `reconcile` applies it.
 *
 * @param onApply called with the root of each element that gets the change
 */
export function createRunningChange(change: CompiledChange, onApply: (root: Node) => void): RunningChange {
  const bindings = new Map<Element, Binding>();
  /** Histories of elements that no longer carry the change, by label. */
  const histories = new Map<string, History>();
  /** Elements that match only because the variant has changed their surroundings. */
  const ignored = new Set<Element>();
  /** Elements that wait for the page, and whether the variant's own changes made the selector stop matching them. */
  const waiting = new Map<Element, boolean | undefined>();
  let found: Element[] = [];
  let target: Element | undefined;
  let matches = 0;
  let reapplied = 0;
  let appliedAtMs: number | null = null;
  let isFight = false;
  let error: string | null = null;

  const attempt = <Value>(work: () => Value): Value | undefined => {
    try {
      return work();
    } catch (reason) {
      error ??= reason instanceof Error ? reason.message : String(reason);
    }
  };

  /** The parser appends to content that it has begun, even after a change has replaced it. */
  const needsContent = change.op === "content" || ("position" in change && change.position === "end");

  const isLost = (element: Element, { effect }: Binding) => effect.isLost?.() ?? !element.isConnected;

  function mayApply(history: History): boolean {
    if (isFight || error !== null) return false;
    isFight = !recordApplication(history);
    return !isFight;
  }

  function apply(element: Element, effect: Effect): void {
    attempt(effect.apply);
    if (error === null) appliedAtMs ??= performance.now();
    onApply(element.getRootNode());
  }

  function bind(element: Element, isUnmatched: boolean | undefined): boolean {
    // Text distinguishes several elements: rows that come and go while a long list is scrolled are not a fight.
    const label = found.length > 1 ? readLabel(element) : "";
    const old = histories.get(label);
    const history = old ?? [];
    if (!mayApply(history)) return false;
    const effect = attempt(() => createEffect(change, element, target));
    if (!effect) return false;
    if (old) reapplied++;
    bindings.set(element, { effect, target, history, label, isUnmatched });
    apply(element, effect);
    return true;
  }

  function unbind(element: Element, { effect, label, history }: Binding): void {
    bindings.delete(element);
    if (histories.size > HISTORIES_MAX) histories.clear();
    histories.set(label, history);
    attempt(effect.undo);
  }

  /** Reverts the change on elements that left the document or no longer match. */
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
      // A change that builds elements would match its own elements again and again.
      const isBuilding = change.op === "move" || ("nodes" in change && change.nodes.some(Array.isArray));
      const find = (selector: CompiledChange["selector"]) => attempt(() => findElements(selector)) ?? [];
      found = find(change.selector).filter((each) => !isBuilding || !shared.built.has(each));
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
        if (ignored.has(element)) continue;
        matches++;
        if (bindings.has(element)) continue;
        const isUnmatched = waiting.get(element);
        if (isBlocked(element, needsContent)) waiting.set(element, isUnmatched);
        else if (change.op !== "move" || (target && !isBlocked(target, needsContent))) {
          waiting.delete(element);
          isChanged = bind(element, isUnmatched) || isChanged;
        }
      }
      for (const { isUnmatched } of bindings.values()) if (isUnmatched) matches++;
      return isChanged;
    },
    verify(isOwnDoing, mutated) {
      let isChanged = false;
      // Changes of one variant disturb only each other's positions.
      if (isOwnDoing && !("position" in change)) return false;
      for (const [element, binding] of bindings) {
        const { effect, history } = binding;
        if (mutated && !effect.nodes().some((node) => node && mutated.has(node))) continue;
        if (isLost(element, binding) || attempt(effect.isIntact) !== false || isFight || error !== null)
          continue;
        if (!isOwnDoing && !mayApply(history)) continue;
        if (!isOwnDoing) reapplied++;
        apply(element, effect);
        isChanged = true;
      }
      return isChanged;
    },
    hasLost: () => [...bindings].some(([element, binding]) => isLost(element, binding)),
    report() {
      const applied = [...bindings.values()].filter(({ effect }) => attempt(effect.isIntact)).length;
      const progress = isFight ? "fight" : applied > 0 ? "applied" : "waiting";
      const state = error === null ? progress : "error";
      return { id: change.id, state, matches, applied, reapplied, appliedAtMs, error };
    },
    undo() {
      for (const [element, binding] of [...bindings].reverse()) unbind(element, binding);
    },
  };
}
