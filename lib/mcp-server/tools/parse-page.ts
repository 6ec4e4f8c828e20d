import domino from "@mixmark-io/domino";
import { parseHTML } from "linkedom";

/**
 * A page as a document. The first parser builds the tree as browsers do, with every element that the page's author left
 * out; the document of the second is one that others can work with.
 */
export const parsePage = (html: string): Document =>
  parseHTML(`<!doctype html>${domino.createDocument(html).documentElement.outerHTML}`).document;
