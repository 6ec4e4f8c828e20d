import { makeDom } from "../../dom/make-dom.ts";

/** The members of nodes, as they are when the runtime starts. */
export const dom = makeDom();
