import type { Browser } from "playwright";
import { buildApp } from "./build-app.ts";
import { startFrontServer } from "./front-server.ts";
import type { MatrixApp } from "./matrix-app.ts";
import { OPERATIONS } from "./matrix-changes.ts";
import { type CellFailure, playCell, recordBaseline } from "./play-cell.ts";

/** The result of an app: what failed for each operation, or why the app could not be tested at all. */
export type MatrixRow = { app: MatrixApp; cells: Map<string, CellFailure | null>; error: string | null };

/** Builds an app and plays every operation on it. `isChosen` selects operations by their names. */
export async function playApp(
  browser: Browser,
  app: MatrixApp,
  isChosen: (operation: string) => boolean,
  log: (text: string) => void,
): Promise<MatrixRow> {
  const cells = new Map<string, CellFailure | null>();
  let error: string | null = null;
  try {
    const folder = await buildApp(app, log);
    const running = await app.start(folder);
    const front = await startFrontServer(running.origin);
    try {
      const baseline = await recordBaseline(browser, front);
      if (baseline.problems.length > 0) log(`${app.name} without a variant: ${baseline.problems.join("; ")}`);
      for (const operation of OPERATIONS.filter(({ name }) => isChosen(name))) {
        const failure = await playCell(browser, front, operation, baseline);
        cells.set(operation.name, failure);
        log(
          `${app.name}, ${operation.name}: ${failure ? `FAILED at ${failure.step}: ${failure.reason}` : "right"}`,
        );
      }
    } finally {
      await front.close();
      await running.close();
    }
  } catch (reason) {
    error = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
    log(`${app.name}: ${error}`);
  }
  return { app, cells, error };
}
