import type { PageElement } from "#lib/dom/make-dom.ts";
import type { ControlFinder, ControlKind, FoundControl } from "./find-controls.ts";
import type { ReactionRecorder } from "./record-reaction.ts";

/** What the check needs in a document to operate its controls. */
export type PageOperator = {
  finder: ControlFinder;
  recorder: ReactionRecorder;
  fill: (form: PageElement) => void;
  /** Finds a control by its keys; the strongest key that fits decides. */
  find: (wanted: { kind: ControlKind; keys: string[] }) => FoundControl | undefined;
  /**
   * Converts a point of the viewport to the pixels in which the browser takes input. They differ on a phone that shows
   * a page smaller because its content is wider than the screen.
   */
  toInput: (point: Point) => Point;
};

/** A point of the viewport, in CSS pixels, or converted with {@link PageOperator.toInput}. */
export type Point = { x: number; y: number };
