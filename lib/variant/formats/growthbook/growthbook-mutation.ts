/** A mutation in the format of dom-mutator, the library with which GrowthBook changes pages. */
export type GrowthBookMutation = {
  selector: string;
  action: "append" | "set" | "remove";
  /** What to change: `html`, `class`, `position` or the name of an attribute. */
  attribute: string;
  value?: string;
  parentSelector?: string;
  insertBeforeSelector?: string;
};

/**
 * Creates the two mutations for a `remove` change. The first hides the elements, the second disables their form fields.
 *
 * @param selector a selector that `toSafeSelector` returned
 */
export const toRemoval = (selector: string): [GrowthBookMutation, GrowthBookMutation] => [
  { selector, action: "append", attribute: "style", value: ";display: none !important" },
  {
    selector: `:is(${selector}):is(input,select,textarea,button),:is(${selector}) :is(input,select,textarea,button)`,
    action: "set",
    attribute: "disabled",
    value: "",
  },
];

/**
 * Builds a suffix for the target selector of a move. The suffix excludes the moved element and its descendants, because
 * dom-mutator would fail on these elements and stop the experiment.
 */
export const notInside = (selector: string): string => `:not(${selector},${selector} *)`;

/**
 * A suffix for the selector of a class change. The suffix excludes SVG elements, because dom-mutator would fail on
 * these elements and stop the experiment.
 */
export const NOT_SVG = ":not(svg,svg *)";
