/** The check's observer and operator of a page, which runs in an isolated world of the page's document. */
import { beginningOf } from "#lib/text/whole-characters.ts";
import { dom } from "../dom.ts";
import { createPageKit } from "../page-kit/page-kit.ts";
import { makeBuiltNodes } from "./built-nodes.ts";
import { disturbChange, readOriginals } from "./disturb-change.ts";
import type { ExaminedChange } from "./examined-change.ts";
import { findBoxes } from "./find-boxes.ts";
import { clickLink, DANGEROUS_LINK, findLinks, goBack } from "./find-links.ts";
import { findOpeners, listShown } from "./find-openers.ts";
import { followLinks } from "./follow-links.ts";
import { identifyElements } from "./identify-elements.ts";
import { makeNodeMatcher } from "./match-nodes.ts";
import { measureLayout, readHeight } from "./measure-layout.ts";
import { measureMutations } from "./measure-mutations.ts";
import { fillForm } from "./operate/fill-form.ts";
import { makeControlFinder } from "./operate/find-controls.ts";
import {
  aimAtControl,
  aimAtSelector,
  isExpanded,
  listControls,
  makeOperator,
  readFirstFocus,
  readReaction,
  recordIdle,
} from "./operate/operator.ts";
import { makeReactionRecorder } from "./operate/record-reaction.ts";
import { readTab, recordTab } from "./operate/record-tab.ts";
import type { PageWatch } from "./page-watch.ts";
import { findChangeOf, readChanges, readLosses, readSize } from "./read-changes.ts";
import { makeEffectReader } from "./read-effect.ts";
import { readHeld } from "./read-held.ts";
import { readRequirement } from "./read-requirement.ts";
import { readStatus } from "./read-status.ts";
import { readStyles } from "./read-styles.ts";
import { snapshotDom } from "./snapshot-dom.ts";
import { makeVerifier } from "./verify-changes.ts";
import { isBlank, watchBlank } from "./watch-blank.ts";
import { untilApplied, untilQuiet, watchDocument } from "./watch-document.ts";

/** The functions that get the document's `PageWatch` and one argument, by the names with which the check calls them. */
const lookFunctions = {
  aimAtControl,
  aimAtSelector,
  clickLink,
  disturbChange,
  findBoxes,
  findChangeOf,
  findLinks,
  findOpeners,
  followLinks,
  goBack,
  identifyElements,
  isBlank,
  isExpanded,
  listControls,
  listShown,
  measureLayout,
  measureMutations,
  readChanges,
  readFirstFocus,
  readHeight,
  readHeld,
  readLosses,
  readOriginals,
  readReaction,
  readRequirement,
  readSize,
  readStatus,
  readStyles,
  readTab,
  recordIdle,
  recordTab,
  snapshotDom,
  untilApplied,
  untilQuiet,
};
export type LookFunctions = typeof lookFunctions;

let watch: PageWatch | undefined;

/** Starts to observe the document. Called at its start, before the page's own scripts. */
export function start(changes: ExaminedChange[], tagUrl: string): void {
  const counter = { prefix: "", next: 1 };
  const newKit = () => createPageKit(counter);
  const verifier = makeVerifier(dom, changes, makeNodeMatcher, makeBuiltNodes, makeEffectReader, beginningOf);
  const observed = watchDocument(dom, changes, tagUrl, newKit, verifier);
  const operator = makeOperator(
    observed,
    makeControlFinder,
    makeReactionRecorder,
    fillForm,
    DANGEROUS_LINK.source,
    beginningOf,
  );
  watch = { ...observed, operator, blank: watchBlank(newKit) };
}

/** Calls a function with the document's watch. */
export function look(name: keyof LookFunctions, argument: unknown): unknown {
  if (!watch) throw new Error("The check does not observe this document.");
  // The cast is safe: `evaluateInWorld` calls a function with its own type of argument.
  const fn = lookFunctions[name] as (watch: PageWatch, argument: unknown) => unknown;
  return fn(watch, argument);
}
