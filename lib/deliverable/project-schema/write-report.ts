import { buildExample } from "#lib/projection/build-example.ts";
import { countOf } from "#lib/text/count-of.ts";
import type { SchemaChecker } from "../admission/create-schema-checker.ts";
import { type Fit, passes, type Report } from "./check-schema.ts";

/**
 * Formats a report as one line of JSON: the projected schema, the constraints that became sentences, the number of
 * round trips with each outcome, and details of the values that came back changed. For a schema that was not admitted,
 * the line contains the error.
 */
export function toJsonLine(report: Report): string {
  if (!report.admitted) return JSON.stringify(report);
  const { projection, roundTrips, projectionMs, ...rest } = report;
  const differences = roundTrips.flatMap((trip, index) =>
    trip.outcome === "different" ? [{ value: index, detail: trip.detail }] : [],
  );
  return JSON.stringify({
    ...rest,
    projection: projection.schema,
    folded: projection.folded,
    projectionMs: Math.round(projectionMs * 10) / 10,
    roundTrips: countTrips(report),
    ...(differences.length > 0 && { differences }),
  });
}

/** Formats a report as one line of text. */
export function toLine(report: Report): string {
  if (!report.admitted) return `refused  ${report.source}  ${report.error}`;
  const { exact, different, undeclared, "skipped-invalid": skipped } = countTrips(report);
  const parts = [
    ...report.providers.map(describeFit),
    ...(exact + different > 0 ? [`${exact} of ${exact + different} values came back exactly`] : []),
    ...(undeclared > 0 ? [`${undeclared} values with undeclared properties`] : []),
    ...(skipped > 0 ? [`${skipped} invalid values skipped`] : []),
  ];
  return `${passes(report) ? "ok     " : "WRONG  "}  ${report.source}  ${parts.join(", ")}`;
}

function describeFit({ provider, breach, overhead }: Fit): string {
  return breach
    ? `breaks ${provider} at ${breach.pointer || "/"}: ${breach.rule}`
    : `fits ${provider} (${overhead} ×)`;
}

function countTrips(report: Extract<Report, { admitted: true }>) {
  const counts = { exact: 0, different: 0, undeclared: 0, "skipped-invalid": 0 };
  for (const { outcome } of report.roundTrips) counts[outcome] += 1;
  return counts;
}

/**
 * Formats the full report on one schema: the projection, the constraints that became sentences, an example, and the
 * round trips. For a schema that was not admitted, returns one line with the error.
 */
export async function toPage(report: Report, checker: SchemaChecker, schema: unknown): Promise<string> {
  if (!report.admitted) return toLine(report);
  const { projection, providers, roundTrips } = report;
  const lines = [
    "# Projected schema",
    JSON.stringify(projection.schema, null, 2),
    "",
    "# Constraints in descriptions",
  ];
  for (const { pointer, keyword, sentence } of projection.folded)
    lines.push(`${pointer || "/"}  ${keyword}: ${sentence}`);
  if (projection.folded.length === 0) lines.push("Nothing.");
  lines.push("", ...(await describeExample(report, checker, schema)));
  for (const [index, trip] of roundTrips.entries())
    lines.push(`value ${index}: ${trip.outcome}${"detail" in trip ? ` (${trip.detail})` : ""}`);
  lines.push("", "# Providers");
  for (const fit of providers)
    lines.push(
      `${describeFit(fit)}, ${countOf(fit.words, "constraint")} in words, ${countOf(fit.texts, "part")} as JSON text`,
    );
  return lines.join("\n");
}

async function describeExample(
  { projection }: Extract<Report, { admitted: true }>,
  checker: SchemaChecker,
  schema: unknown,
): Promise<string[]> {
  const example = buildExample(projection.schema);
  const back = projection.foldBack(example);
  const lines = ["# An example", `the model writes  ${JSON.stringify(example)}`];
  if (!back.ok) return [...lines, `which is refused at ${back.path || "/"}: ${back.message}`];
  lines.push(`the caller gets   ${JSON.stringify(back.value)}`);
  const again = projection.project(back.value);
  const isExact = again.ok && JSON.stringify(projection.foldBack(again.value)) === JSON.stringify(back);
  lines.push(
    isExact ? "which survives the way there and back." : "which does not survive the way there and back.",
  );
  const verdict = await checker.validateValue(schema, back.value);
  if (!verdict.valid && "violations" in verdict)
    for (const { path, message } of verdict.violations.slice(0, 5))
      lines.push(
        `(the example is not valid: ${projection.toProjectedPath(path, example) || "/"} ${message})`,
      );
  return lines;
}
