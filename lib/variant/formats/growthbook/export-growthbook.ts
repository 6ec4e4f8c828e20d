import { toAddressPattern } from "#lib/injected/runtime/match-address.ts";
import type { VariantDocument, VariantPage } from "../../document.ts";
import { type ConvertedPage, convertChanges } from "../portable/convert-changes.ts";
import type { Omission } from "../portable/omission.ts";
import { wrapPageScript } from "../portable/page-script.ts";
import { convertToGrowthBook, type GrowthBookItem } from "./convert-to-growthbook.ts";
import type { GrowthBookMutation } from "./growthbook-mutation.ts";
import { writeInserts } from "./insert-script.ts";

type UrlPattern = { include: boolean; type: "regex"; pattern: string };
type Changes = { css: string; js: string; domMutations: GrowthBookMutation[] };

/**
 * An export for GrowthBook. It has each exported page of the variant twice: as a visual changeset for GrowthBook's REST
 * API, and as an auto experiment for its SDK.
 */
type GrowthBookDocument = {
  format: "growthbook";
  name: string;
  visualChangesets: {
    urlPatterns: UrlPattern[];
    editorUrl: string;
    experiment: string;
    visualChanges: ({ description: string; variation: string } & Changes)[];
  }[];
  experiments: {
    key: string;
    changeId: string;
    name: string;
    phase: string;
    seed: string;
    hashAttribute: string;
    hashVersion: 2;
    manual: false;
    coverage: 1;
    weights: [number, number];
    meta: { key: string; name: string }[];
    urlPatterns: UrlPattern[];
    variations: [Record<string, never>, Changes];
  }[];
};

/**
 * The name and key of an experiment. The key identifies the experiment in GrowthBook, and the experiment's feature flag
 * in PostHog.
 */
export type ExperimentName = { name: string; key: string };

const VARIATIONS = [
  { key: "0", name: "Control" },
  { key: "1", name: "Variant" },
];

/**
 * A rule that is put before CSS to disable `@import`, which browsers ignore after a rule. The runtime's style sheets do
 * not support `@import` either.
 */
export const NO_IMPORTS = "html{}\n";

/**
 * Exports a document for GrowthBook. Each page of the variant becomes a visual changeset and an auto experiment, unless
 * nothing of the page can be exported. All experiments share one key and seed, so that a visitor gets the same
 * variation on every page.
 *
 * @param document a document that `checkDocumentContent` has accepted
 * @param shadowed ids of the changes that are known to match in a shadow root
 */
export function exportGrowthBook(
  document: VariantDocument,
  experiment: ExperimentName,
  shadowed: ReadonlySet<string> = new Set(),
): { document: GrowthBookDocument; omitted: Omission[] } {
  const { pages, omitted } = convertChanges(document, "GrowthBook", convertToGrowthBook, shadowed);
  const used = pages.filter(
    ({ page, items }) => items.length > 0 || page.css.trim() !== "" || page.js.trim() !== "",
  );
  return {
    document: {
      format: "growthbook",
      name: experiment.name,
      visualChangesets: used.map((page) => toChangeset(page, experiment)),
      experiments: used.map((page, index) => toExperiment(page, experiment, index)),
    },
    omitted,
  };
}

/**
 * Always writes a regular expression. GrowthBook's simple patterns ignore case, the protocol and a trailing slash; the
 * runtime does not ignore them.
 */
const toUrlPatterns = ({ url, match, exclude = [] }: VariantPage): UrlPattern[] => [
  { include: true, type: "regex", pattern: toAddressPattern({ url, match }) },
  ...exclude.map((each) => ({ include: false, type: "regex" as const, pattern: toAddressPattern(each) })),
];

const toChanges = ({ page, items }: ConvertedPage<GrowthBookItem>): Changes => ({
  css: /@import|@\\/i.test(page.css) ? NO_IMPORTS + page.css : page.css,
  js:
    writeInserts(items.flatMap((item) => ("insert" in item ? [item.insert] : []))) + wrapPageScript(page.js),
  // Moves come first, so that an element leaves its parent before the parent's content is replaced.
  domMutations: items
    .flatMap((item) => ("insert" in item ? [] : [item]))
    .toSorted((one, other) => Number(isMove(other)) - Number(isMove(one))),
});

const isMove = ({ attribute }: GrowthBookMutation): boolean => attribute === "position";

const toChangeset = (
  converted: ConvertedPage<GrowthBookItem>,
  { name, key }: ExperimentName,
): GrowthBookDocument["visualChangesets"][number] => ({
  urlPatterns: toUrlPatterns(converted.page),
  editorUrl: converted.page.url,
  experiment: key,
  visualChanges: [
    { variation: "0", description: "Control", css: "", js: "", domMutations: [] },
    { variation: "1", description: name, ...toChanges(converted) },
  ],
});

const toExperiment = (
  converted: ConvertedPage<GrowthBookItem>,
  { name, key }: ExperimentName,
  index: number,
): GrowthBookDocument["experiments"][number] => ({
  key,
  changeId: `${key}-${index + 1}`,
  name,
  phase: "0",
  seed: key,
  hashAttribute: "id",
  hashVersion: 2,
  manual: false,
  coverage: 1,
  weights: [0.5, 0.5],
  meta: VARIATIONS,
  urlPatterns: toUrlPatterns(converted.page),
  variations: [{}, toChanges(converted)],
});
