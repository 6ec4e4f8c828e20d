import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { CHECK_HELPERS } from "../matrix-changes.ts";

/** A browser that plays the matrix. Each engine has an implementation in this folder (decision 100). */
export type MatrixBrowser = {
  /** Its name and version, as the table shows them. */
  name: string;
  /**
   * A script that every document must run before its own scripts, because the browser does not report the errors of a
   * page. Null for browsers that do.
   */
  firstScript: string | null;
  /** Opens an address, without cookies and storage of other pages, and waits until the page has loaded. */
  open: (url: string) => Promise<MatrixPage>;
  close: () => Promise<void>;
};

/** A page in a browser of the matrix. */
export type MatrixPage = {
  /**
   * Calls a function in the current document. It may use the helpers of {@link CHECK_HELPERS}. Arguments and result are
   * JSON. Rejects if the function throws, or if the document goes away before the answer.
   */
  evaluate: <Args extends unknown[], Result>(
    call: (...args: Args) => Result,
    ...args: Args
  ) => Promise<Result>;
  /** Returns the errors in the console and the uncaught exceptions of all documents since the page was opened. */
  readProblems: () => Promise<string[]>;
  close: () => Promise<void>;
};

/** Returns the expression that calls a function in a page, for {@link MatrixPage.evaluate}. */
export const callExpression = (call: (...args: never[]) => unknown, args: unknown[]): string =>
  `(() => { ${CHECK_HELPERS} return (${call})(...${JSON.stringify(args)}); })()`;

/** Finds a program in the folders of `PATH`. */
export const findProgram = (name: string): string | undefined =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
