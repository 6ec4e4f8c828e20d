/** A change in the format of dom-mutator, the library with which GrowthBook changes pages. */
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
 * The mutations for our `remove`: they hide the element, and disable its form fields.
 *
 * @param selector a result of `toSafeSelector`
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
 * A suffix for the selector of an element to move into. dom-mutator fails, and stops the experiment, if the target is
 * inside the moved element.
 */
export const notInside = (selector: string): string => `:not(${selector},${selector} *)`;

/** A suffix for the selector of a change of classes: on SVG elements, dom-mutator fails and stops the experiment. */
export const NOT_SVG = ":not(svg,svg *)";
