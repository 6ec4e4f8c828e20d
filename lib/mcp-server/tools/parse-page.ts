import domino from "@mixmark-io/domino";
import { parseHTML } from "linkedom";

/**
 * Parses a page in two steps. Domino builds the tree as browsers do, including implied elements. Linkedom then parses
 * the HTML of that tree, because the other libraries work with linkedom's document.
 */
export const parsePage = (html: string): Document =>
  parseHTML(`<!doctype html>${domino.createDocument(html).documentElement.outerHTML}`).document;
