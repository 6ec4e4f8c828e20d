import { VARIANT_LIMITS } from "../../document.ts";
import { type ImportOptions, quote } from "./imported.ts";

/**
 * An experiment and its treatments, as one part of a document describes them. Several parts can describe the same
 * experiment, for example one part for each page.
 */
type Experiment<Treatment> = { path: string; names: string[]; treatments: Treatment[] };
type Treatment = { path: string; names: string[]; isControl: boolean; isEmpty: boolean };

/**
 * Chooses one experiment and one of its treatments: those that the options name, or by default the first ones that have
 * changes. Returns the treatment with the chosen name from each part of the document that describes the experiment.
 *
 * @param omitted receives a sentence for each other experiment, and for each other treatment that has changes
 */
export function chooseTreatment<Each extends Treatment>(
  experiments: Experiment<Each>[],
  { experiment, variation }: ImportOptions,
  omitted: string[],
): { ok: true; treatments: Each[] } | { ok: false; problem: string } {
  const candidates = experiments.filter(
    ({ names }) => experiment === undefined || names.includes(experiment),
  );
  const first =
    candidates.find(({ treatments }) =>
      treatments.some(({ isControl, isEmpty }) => !isControl && !isEmpty),
    ) ?? candidates[0];
  if (!first) return { ok: false, problem: refuse("experiment", experiment, experiments) };
  const same = experiments.filter(
    (each) => each === first || (first.names[0] !== undefined && each.names[0] === first.names[0]),
  );
  for (const other of experiments)
    if (!same.includes(other)) omitted.push(`${other.path}: it is another experiment; import it on its own.`);
  const name = variation ?? findDefault(first.treatments)?.names[0];
  const treatments = same.flatMap(
    (each) => each.treatments.find(({ names }) => name !== undefined && names.includes(name)) ?? [],
  );
  if (treatments.length === 0)
    return { ok: false, problem: refuse("variation", variation, first.treatments) };
  const { pagesMax } = VARIANT_LIMITS;
  if (treatments.length > pagesMax)
    return { ok: false, problem: `document: must have at most ${pagesMax} pages, not ${treatments.length}` };
  for (const other of same.flatMap((each) => each.treatments))
    if (!treatments.includes(other) && !other.isEmpty)
      omitted.push(`${other.path}: it is another variation; import it as a variant of its own.`);
  return { ok: true, treatments };
}

/**
 * Finds the treatment that is imported by default. Prefers the first treatment that has changes and is not the control.
 */
const findDefault = <Each extends Treatment>(treatments: Each[]): Each | undefined =>
  treatments.find(({ isControl, isEmpty }) => !isControl && !isEmpty) ??
  treatments.find(({ isEmpty }) => !isEmpty) ??
  treatments[0];

function refuse(option: string, wanted: string | undefined, existing: { names: string[] }[]): string {
  const listed = [...new Set(existing.flatMap(({ names }) => names[0] ?? []))].slice(0, 20);
  const list = listed.map((name) => quote(name)).join(", ");
  return wanted === undefined
    ? `document: has no ${option} with changes`
    : `${option}: there is no ${quote(wanted)}${list === "" ? "" : `; the document has ${list}`}`;
}
