import { toAddressPattern } from "#lib/injected/runtime/match-address.ts";
import type { Change, VariantDocument, VariantPage } from "../../document.ts";
import type { ExperimentName } from "../growthbook/export-growthbook.ts";
import { type Converted, type ConvertedPage, convertChanges } from "../portable/convert-changes.ts";
import { toPortableHtml, toPortableText } from "../portable/html.ts";
import type { Omission } from "../portable/omission.ts";
import { readSubjects, toSafeSelector } from "../portable/selector.ts";
import { findSanitizedPart } from "./sanitized-html.ts";

/** A transform of PostHog, reduced to the fields that posthog-js applies. */
type Transform = { selector: string; html: string } | { selector: string; css: string };

type Variant = {
  rollout_percentage: number;
  transforms: Transform[];
  conditions?: { url: string; urlMatchType: "regex" };
};

/**
 * An export for PostHog: the list of web experiments, in the form in which posthog-js loads the list. PostHog's API
 * also accepts each experiment of the list.
 */
type PostHogDocument = {
  format: "posthog";
  experiments: {
    id: number;
    name: string;
    feature_flag_key: string;
    variants: { control: Variant; test: Variant };
  }[];
};

const OWN_FLAG =
  "PostHog's API gives each web experiment a feature flag of its own, so a visitor can get the variant on this page and not on the others.";

/**
 * Exports a document for PostHog. Each page of the variant that has a supported change becomes a web experiment. In the
 * export, all experiments share one feature flag, so that a visitor gets the same variant on every page. An experiment
 * that is created through PostHog's API gets its own flag instead, so `omitted` has an entry about this for each
 * exported page after the first.
 *
 * @param document a document that `checkDocumentContent` has accepted
 * @param shadowed ids of the changes that are known to match in a shadow root
 */
export function exportPostHog(
  document: VariantDocument,
  experiment: ExperimentName,
  shadowed: ReadonlySet<string> = new Set(),
): { document: PostHogDocument; omitted: Omission[] } {
  const { pages, omitted } = convertChanges(document, "PostHog", convertToPostHog, shadowed);
  const used = pages.filter(({ items }) => items.length > 0);
  return {
    document: {
      format: "posthog",
      experiments: used.map((page, index) => toExperiment(page, experiment, index, used.length)),
    },
    omitted: [
      ...omitted,
      ...document.pages.flatMap(listPageOmissions),
      ...used.slice(1).map(({ page: { url } }) => ({ changeId: null, url, reason: OWN_FLAG })),
    ],
  };
}

function toExperiment(
  { page, items }: ConvertedPage<Transform>,
  { name, key }: ExperimentName,
  index: number,
  count: number,
): PostHogDocument["experiments"][number] {
  const conditions = { url: toAddressPattern(page), urlMatchType: "regex" as const };
  return {
    id: index + 1,
    name: count === 1 ? name : `${name} (page ${index + 1})`,
    feature_flag_key: key,
    variants: {
      control: { rollout_percentage: 50, transforms: [] },
      test: { rollout_percentage: 50, transforms: items, conditions },
    },
  };
}

const listPageOmissions = ({ url, css, js }: VariantPage): Omission[] => [
  ...(css.trim() === ""
    ? []
    : [{ changeId: null, url, reason: "PostHog web experiments have no style sheet." }]),
  ...(js.trim() === "" ? [] : [{ changeId: null, url, reason: "PostHog web experiments have no script." }]),
];

/** Converts a single change to transforms of PostHog. Does not check how the change interacts with other changes. */
function convertToPostHog(change: Change): Converted<Transform> {
  if (change.late === true)
    return { limit: "posthog-js applies an experiment once, and does not wait for elements that come later" };
  const selector = toSafeSelector(change.selector);
  switch (change.op) {
    case "setText":
      return convertContent(
        selector,
        change.text,
        toPortableText(change.text, listContexts(change.selector)),
      );
    case "setHtml":
      return convertHtml(selector, change.html, listContexts(change.selector));
    case "setAttribute":
      if (change.name.toLowerCase() !== "style" || change.value === "") break;
      return { items: [{ selector, css: change.value }] };
    case "setStyle":
      return {
        limit: "posthog-js replaces the whole style attribute of an element, which may have other styles",
      };
    case "remove":
      return {
        limit: "posthog-js cannot hide an element without replacing its styles, nor disable its form fields",
      };
    case "insert":
    case "move":
      return { limit: "posthog-js changes elements only where they are" };
    default:
  }
  return { limit: "posthog-js sets no attribute but style, and no classes" };
}

/** Lists the names of the elements in which posthog-js parses HTML: the elements that the selector matches. */
const listContexts = (selector: string): string[] => readSubjects(selector).map(({ tag }) => tag ?? "div");

function convertHtml(selector: string, html: string, contexts: string[]): Converted<Transform> {
  const portable = toPortableHtml(html, contexts);
  const sanitized = portable && findSanitizedPart(portable.elements);
  if (sanitized !== undefined) return { limit: `posthog-js removes ${sanitized} from HTML` };
  return convertContent(selector, html, portable?.html);
}

function convertContent(selector: string, source: string, html: string | undefined): Converted<Transform> {
  if (html === undefined)
    return { limit: "its content cannot be set as HTML without being read differently" };
  return html === "" || source === ""
    ? { limit: "posthog-js ignores empty content" }
    : { items: [{ selector, html }] };
}
