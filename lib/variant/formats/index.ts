import type { CheckReport } from "../check/check-report.ts";
import type { VariantDocument } from "../document.ts";
import { exportGrowthBook } from "./growthbook/export-growthbook.ts";
import { importGrowthBook } from "./growthbook/import-growthbook.ts";
import { importJson } from "./imported/import-json.ts";
import type { Imported, ImportOptions } from "./imported/imported.ts";
import type { Omission } from "./portable/omission.ts";
import { exportPostHog } from "./posthog/export-posthog.ts";
import { importPostHog } from "./posthog/import-posthog.ts";

/** The JSON formats in which variants are exported and imported. */
export const JSON_FORMATS = ["json", "growthbook", "posthog"] as const;
export type JsonFormat = (typeof JSON_FORMATS)[number];

/**
 * A revision to export. `key` identifies the variant in other tools. `check` is the report of its newest check; null if
 * it has none.
 */
type Exportable = {
  key: string;
  variant: string;
  revision: number;
  document: VariantDocument;
  check: Pick<CheckReport, "pages"> | null;
};

/** Lists the changes of which the check has found an element in a shadow root, on at least one page. */
const listShadowed = (check: Exportable["check"]): Set<string> =>
  new Set(
    (check?.pages ?? []).flatMap(({ changes }) =>
      changes.flatMap(({ id, isInShadow }) => (isInShadow === true ? [id] : [])),
    ),
  );

/** Exports a revision. `omitted` lists what the format does not support. */
export function exportJson(
  format: JsonFormat,
  { key, variant, revision, document, check }: Exportable,
): { document: unknown; omitted: Omission[] } {
  const experiment = { name: `Variant ${variant}`, key };
  switch (format) {
    case "json":
      return {
        document: { format: "agent-session-variant", version: 1, variant, revision, ...document },
        omitted: [],
      };
    case "growthbook":
      return exportGrowthBook(document, experiment, listShadowed(check));
    case "posthog":
      return exportPostHog(document, experiment, listShadowed(check));
  }
}

/** Reads the pages of an exported variant, or of another tool's experiment. */
export function importPages(format: JsonFormat, value: unknown, options: ImportOptions): Imported {
  switch (format) {
    case "json":
      return importJson(value);
    case "growthbook":
      return importGrowthBook(value, options);
    case "posthog":
      return importPostHog(value, options);
  }
}
