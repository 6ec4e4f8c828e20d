import type { PageOperator } from "./operate/page-operator.ts";
import type { BlankWatch } from "./watch-blank.ts";
import type { DocumentWatch } from "./watch-document.ts";

/** The check's observer in a document. It runs in an isolated world that the page's scripts cannot reach. */
export type PageWatch = DocumentWatch & {
  /** Finds, operates and observes controls. */
  operator: PageOperator;
  blank: BlankWatch;
};
