import type { MatrixBrowser } from "./browsers/matrix-browser.ts";
import { buildApp } from "./build-app.ts";
import { startFrontServer } from "./front-server.ts";
import type { MatrixApp } from "./matrix-app.ts";
import { OPERATIONS } from "./matrix-changes.ts";
import { type CellFailure, playCell, recordBaseline } from "./play-cell.ts";

/** The result of an app in a browser: what failed for each operation, or why the app could not be tested at all. */
export type MatrixRow = {
  app: MatrixApp;
  /** The browser's name and version. */
  browser: string;
  cells: Map<string, CellFailure | null>;
  error: string | null;
};

type Choice = { isChosen: (operation: string) => boolean; log: (text: string) => void };

/** Plays the operations on a running app in one browser. */
async function playOperations(
  browser: MatrixBrowser,
  app: MatrixApp,
  origin: string,
  { isChosen, log }: Choice,
): Promise<MatrixRow["cells"]> {
  const cells: MatrixRow["cells"] = new Map();
  const front = await startFrontServer(origin, browser.firstScript);
  try {
    const baseline = await recordBaseline(browser, front);
    const title = `${app.name} in ${browser.name}`;
    if (baseline.problems.length > 0) log(`${title} without a variant: ${baseline.problems.join("; ")}`);
    for (const operation of OPERATIONS.filter(({ name }) => isChosen(name))) {
      // A browser that cannot open or close the page fails this cell only.
      const failure = await playCell(browser, front, operation, baseline).catch(
        (reason): CellFailure => ({ step: "load", reason: String(reason) }),
      );
      cells.set(operation.name, failure);
      const outcome = failure ? `FAILED at ${failure.step}: ${failure.reason}` : "right";
      log(`${title}, ${operation.name}: ${outcome}`);
    }
    return cells;
  } finally {
    await front.close();
  }
}

/** Builds an app and plays the operations on it in all browsers at once. `isChosen` selects operations by their names. */
export async function playApp(
  browsers: MatrixBrowser[],
  app: MatrixApp,
  choice: Choice,
): Promise<MatrixRow[]> {
  const failedRow = ({ name: browser }: MatrixBrowser, reason: unknown): MatrixRow => {
    const error = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
    choice.log(`${app.name} in ${browser}: ${error}`);
    return { app, browser, cells: new Map(), error };
  };
  try {
    const running = await app.start(await buildApp(app, choice.log));
    const rows = await Promise.all(
      browsers.map((browser) =>
        playOperations(browser, app, running.origin, choice).then(
          (cells) => ({ app, browser: browser.name, cells, error: null }),
          (reason) => failedRow(browser, reason),
        ),
      ),
    );
    await running.close();
    return rows;
  } catch (reason) {
    return browsers.map((browser) => failedRow(browser, reason));
  }
}
