import { OPERATIONS } from "./matrix-changes.ts";
import { STEPS } from "./play-cell.ts";
import type { MatrixRow } from "./run-matrix.ts";

const escapeCell = (text: string) =>
  text
    .replace(/\s+/g, " ")
    .replace(/[|<>]/g, (found) => `\\${found}`)
    .slice(0, 300);

/** Why cells are wrong, for the cells whose reason is known. The keys are an app's name and an operation's name. */
export const KNOWN_REASONS: Record<string, string> = {
  "htmx (boost), move":
    "htmx restores HTML that it saved with the change. The element's original place is not in this HTML, so reverting leaves the element where it was moved.",
  "htmx (boost), list: move":
    "htmx restores HTML that it saved with the change. The element's original place is not in this HTML, so reverting leaves the element where it was moved.",
  "Qwik, html":
    "Qwik finds the texts of a paused page by its comments. A replaced content is out of the document, so Qwik does not resume the page.",
  "Qwik, insert":
    "Qwik reads the children of a paused page by their order when it renders them for the first time, and takes the inserted node for its own.",
  "Qwik, move":
    "Qwik reads the children of a paused page by their order when it renders them for the first time, and renders the moved element again.",
};

/** Writes the result of the matrix as a Markdown page. `date` is the day of the run. */
export function writeTable(rows: MatrixRow[], browser: string, date: string): string {
  const reasons: string[] = [];
  const lines = rows.map(({ app, cells, error }) => {
    const versions = app.shown.map((name) => `${name} ${app.packages[name]}`).join(", ");
    const marks = OPERATIONS.map(({ name }) => {
      const failure = cells.get(name);
      if (failure === null) return "✓";
      const key = `${app.name}, ${name}`;
      const reason = failure
        ? `${failure.step}: ${KNOWN_REASONS[key] ?? failure.reason}`
        : (error ?? "not played");
      reasons.push(`${reasons.length + 1}. ${key}: ${escapeCell(reason)}`);
      return String(reasons.length);
    });
    return `| ${[app.name, `${app.build}${versions ? `; ${versions}` : ""}`, ...marks].join(" | ")} |`;
  });
  const head = ["framework", "build and versions", ...OPERATIONS.map(({ name }) => name)];
  return `# Matrix of variants

The result of \`npm run variants\` of ${date}, in ${browser}. It plays each operation on the production build of each framework, with the tag of a published variant (\`async\`), whose script arrives before the page's own scripts. A cell is right (✓) if the change is in place, once for each place, and the page's own state is as without the change, in each of these steps: ${STEPS.join(", ")}. After the last step, the page renders again and must have the HTML that it has without a variant, without an error in the console. A number refers to the reason below the table.

| ${head.join(" | ")} |
|${head.map(() => "---").join("|")}|
${lines.join("\n")}

## Reasons

${reasons.length === 0 ? "Every cell is right." : reasons.join("\n")}

## Not in the table

Firefox: not played. Playwright's own protocol does not drive Debian's \`firefox-esr\`, and the matrix has no driver for WebDriver BiDi. Playwright 1.65 has an internal one (\`_bidiFirefox\`) that is not part of its API and was not tried.
`;
}
