import type { Dom, PageElement } from "#lib/dom/make-dom.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { dom } from "../dom.ts";
import { createLineWriter, type LineWriter } from "./line-writer.ts";
import { type ElementKit, makeElements, type RefCounter } from "./make-elements.ts";
import { makeNames, type NameKit } from "./make-names.ts";
import { makeSearch, type SearchKit } from "./make-search.ts";
import { roleOf } from "./role-of.ts";
import { type TreeKit, tree } from "./tree.ts";
import { makeSelectorOf } from "./unique-selector.ts";

/** The functions that the service's code can use inside a page. */
export type PageKit = SearchKit &
  TreeKit &
  NameKit &
  ElementKit & {
    /** The members of nodes. Nodes are read and changed only through these functions. */
    dom: Dom;
    /** A short selector that matches only this element; null inside a closed shadow root. */
    selectorOf: (element: PageElement) => string | null;
    /** The ARIA role as Playwright's `getByRole` matches it; null if the element has no role. */
    roleOf: (element: PageElement) => string | null;
    beginningOf: typeof beginningOf;
    /** Creates a writer for the lines of one frame. */
    newLines: () => LineWriter;
  };

/** Creates the kit for one call: it caches the shadow roots and the selectors that it has seen. */
export function createPageKit(counter: RefCounter): PageKit {
  const search = makeSearch();
  return {
    ...search,
    ...tree,
    ...makeNames(search),
    ...makeElements(search, counter),
    dom,
    roleOf,
    beginningOf,
    newLines: createLineWriter,
    selectorOf: makeSelectorOf(search),
  };
}

export type { RefCounter };
