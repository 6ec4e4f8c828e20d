import type { PageElement } from "#lib/dom/make-dom.ts";
import type { Line, LineWriter } from "../../page-kit/line-writer.ts";
import type { PageKit } from "../../page-kit/page-kit.ts";

/** For a field of a library, the text that is drawn as its value. */
export type DrawnValues = Map<PageElement, { text: string; isPlaceholder: boolean }>;

/** What the elements around an element imply for it. */
export type Context = {
  /** Whether a line already shows the text inside, for example as the name of a control. */
  isTextWritten: boolean;
  hasPointer: boolean;
  /** Whether the elements are transparent, so that only fields among them get a line. */
  isTransparent: boolean;
  /** Whether the elements are inside a list item or cell, where an icon often is the content. */
  isInItem: boolean;
  /** Whether the elements are inside an editor, where people also see how text is formatted. */
  isInEditor: boolean;
};

/** The walk through one frame, for the functions that write a kind of element. */
export type Walker = {
  kit: PageKit;
  lines: LineWriter;
  /** Names of the attributes to show with each element that people can use. */
  attributes: string[];
  /** The texts that libraries draw in place of the values of fields, by field. */
  drawn: DrawnValues;
  visitChildren: (element: PageElement, into: Line[], context: Context) => void;
};

/** Elements that a snapshot leaves out. */
export const SKIPPED =
  "script, style, noscript, template, head, datalist, option, optgroup, title, [data-agent-session-overlay]";

/** Matches a ref in a line. */
export const REF = /\[(?:f\d+)?e\d+\]/;

const CONTROLS = "a[href], button, input, select, textarea, summary, [role=button], [tabindex]";

/** Whether an element contains controls, also in its own shadow root. */
export function hasControls({ dom }: PageKit, element: PageElement): boolean {
  const shadowRoot = dom.shadowRoot(element);
  return (
    dom.querySelector(element, CONTROLS) !== null ||
    (shadowRoot !== null && dom.querySelector(shadowRoot, CONTROLS) !== null)
  );
}
