import type { MatrixApp } from "./matrix-app.ts";
import { OPERATIONS } from "./matrix-changes.ts";
import { type CellFailure, STEPS } from "./play-cell.ts";
import type { MatrixRow } from "./run-matrix.ts";

const table = (head: string[], lines: string[][]) =>
  [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const escapeCell = (text: string) =>
  text
    .replace(/\s+/g, " ")
    .replace(/[|<>]/g, (found) => `\\${found}`)
    .slice(0, 300);

/** Why cells are wrong, for the cells whose reason is known. The keys name an app, an operation and the failed step. */
const KNOWN_REASONS: Record<string, string> = {
  "htmx (boost), move: revert":
    "htmx restores HTML that it saved with the change. The element's original place is not in this HTML, so reverting leaves the element where it was moved.",
  "htmx (boost), list: move: revert":
    "htmx restores HTML that it saved with the change. The element's original place is not in this HTML, so reverting leaves the element where it was moved.",
  "Qwik, html: load":
    "Qwik finds the texts of a paused page by its comments. A replaced content is out of the document, so Qwik does not resume the page.",
  "Qwik, insert: revert":
    "Qwik reads the children of a paused page by their order when it renders them for the first time, and takes the inserted node for its own.",
  "Qwik, move: load":
    "Qwik reads the children of a paused page by their order when it renders them for the first time, and renders the moved element again.",
  "Qwik, list: move: revert":
    "Qwik reads the children of a paused page by their order when it renders them for the first time, and takes the moved item's new place for its own. Reverting after such a render leaves the items in another order.",
  "Strict CSP, Trusted Types, html: revert":
    "The page's script looks for the paragraph that the change has replaced, does not find it, and leaves it out of its render. After reverting, the paragraph shows the earlier state until the next render.",
};

const keyOf = (app: MatrixApp, operation: string, { step }: CellFailure) =>
  `${app.name}, ${operation}: ${step}`;

/** Whether each cell of a row is right, or wrong for a known reason. */
export const isExpected = ({ app, cells, error }: MatrixRow): boolean =>
  error === null &&
  [...cells].every(
    ([operation, failure]) => failure === null || keyOf(app, operation, failure) in KNOWN_REASONS,
  );

/**
 * Writes the result of the matrix as a Markdown page, with a table for each browser. `date` is the day of the run,
 * `missing` names the browsers that are not installed.
 */
export function writeTables(rows: MatrixRow[], date: string, missing: string[]): string {
  const reasons: string[] = [];
  /** Returns the number of a reason. Equal reasons have one number. */
  const numberOf = (reason: string) => {
    if (!reasons.includes(reason)) reasons.push(reason);
    return String(reasons.indexOf(reason) + 1);
  };
  const markOf = ({ app, browser, cells, error }: MatrixRow, operation: string) => {
    const failure = cells.get(operation);
    if (failure === null) return "✓";
    if (failure === undefined)
      return error ? numberOf(`${app.name}, in ${browser}: ${escapeCell(error)}`) : "–";
    const key = keyOf(app, operation, failure);
    const known = KNOWN_REASONS[key];
    return numberOf(known ? `${key}: ${known}` : `${key}, in ${browser}: ${escapeCell(failure.reason)}`);
  };
  const tables = [...new Set(rows.map(({ browser }) => browser))].map((browser) => {
    const lines = rows
      .filter((row) => row.browser === browser)
      .map((row) => [row.app.name, ...OPERATIONS.map(({ name }) => markOf(row, name))]);
    return `## ${browser}\n\n${table(["framework", ...OPERATIONS.map(({ name }) => name)], lines)}`;
  });
  const apps = [...new Set(rows.map(({ app }) => app))].map(({ name, build, shown, packages }) => [
    name,
    build,
    shown.map((each) => `${each} ${packages[each]}`).join(", "),
  ]);
  return `# Matrix of variants

The result of \`npm run variants\` of ${date}. It plays each operation on the production build of each framework, with the tag of a published variant (\`async\`), whose script arrives before the page's own scripts. A cell is right (✓) if the change is in place, once for each place, and the page's own state is as without the change, in each of these steps: ${STEPS.join(", ")}. After the last step, the page renders again and must have the HTML that it has without a variant, without an error in the console. A number refers to the reasons below the tables.

${tables.join("\n\n")}

## Reasons

${reasons.map((reason, index) => `${index + 1}. ${reason}`).join("\n") || "Every cell is right."}

## Builds

${table(["framework", "build", "versions"], apps)}

## Browsers

- Playwright drives Chromium. Back loads the page again.
- Puppeteer drives Debian's \`firefox-esr\` by WebDriver BiDi. Back restores the page with its state, so that reverting undoes a change of a page that has rendered again.
- The WebDriver of Debian's \`webkit2gtk-driver\`, with \`xvfb\` as its display, drives WebKitGTK. Back restores the page with its state. WebDriver does not report a page's console: a script before the page's own records \`console.error\`, uncaught exceptions, files that do not load, and violations of the content security policy.
${missing.map((name) => `- ${name} is not installed and was not played.`).join("\n")}
`;
}
