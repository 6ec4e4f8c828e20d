import domino from "@mixmark-io/domino";
import { parseHTML } from "linkedom";

/**
 * Parses a page in two steps. Domino builds the tree as browsers do, including implied elements. Linkedom then parses
 * the HTML of that tree, because Readability and the queries of this folder work with linkedom's document.
 */
export const parsePage = (html: string): Document =>
  parseHTML(`<!doctype html>${domino.createDocument(html).documentElement.outerHTML}`).document;
