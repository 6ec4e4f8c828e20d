import { makeDom } from "#lib/dom/make-dom.ts";

/** The members of nodes, as the document defined them when the bundle was installed. */
export const dom = makeDom();
