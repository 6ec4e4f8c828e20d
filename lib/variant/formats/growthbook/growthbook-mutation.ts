/** A change as dom-mutator takes it, the library with which GrowthBook changes pages. */
export type GrowthBookMutation = {
  selector: string;
  action: "append" | "set" | "remove";
  /** `html`, `class`, `position` or the name of an attribute. */
  attribute: string;
  value?: string;
  parentSelector?: string;
  insertBeforeSelector?: string;
};

/**
 * What our `remove` is in GrowthBook: the element is hidden, and its form fields are disabled.
 *
 * @param selector a selector that is safe there
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

/** Ends the selector of an element to move into: dom-mutator fails, and stops the experiment, where that is inside. */
export const notInside = (selector: string): string => `:not(${selector},${selector} *)`;

/** Ends the selector of a change of classes: on a drawing, dom-mutator fails and stops the experiment. */
export const NOT_SVG = ":not(svg,svg *)";
