import { z } from "zod";
import { CHECK_STATUSES, FINDING_SEVERITIES } from "#db/schema/unions.ts";
import { count, PUBLICATION, publicationId, REPORT, releaseId, reportId, timestamp } from "./wire-values.ts";

/** The published release of a variant. Source: `wire.md`, Publications. */
export const publicationSchema = z
  .object({
    id: publicationId,
    release: releaseId,
    number: z
      .int()
      .min(1)
      .meta({ description: "Number of the release.", examples: [2] }),
    revision: z
      .int()
      .min(1)
      .meta({
        description: "Number of the published revision. The variant may have a newer one.",
        examples: [3],
      }),
    isUnchecked: z
      .boolean()
      .meta({ description: "Whether the release was published without a passed check." }),
    scriptUrl: z.string().meta({
      description:
        "URL of the publication's script. It stays the same and always serves the current release, also after a new release or a rollback.",
      examples: [`https://service.example/v/${PUBLICATION}.js`],
    }),
    pinnedScriptUrl: z.string().meta({
      description: "URL of the script of this release, which never changes.",
      examples: [`https://service.example/v/${PUBLICATION}@2.js`],
    }),
    integrity: z.string().meta({
      description: "Subresource Integrity of the script of this release.",
      examples: ["sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"],
    }),
  })
  .meta({ id: "Publication", description: "The published release of a variant." });

/** A variant in `run.completed`, the agent status and the list of variants. Source: `wire.md`, Variants. */
export const variantSummarySchema = z
  .object({
    key: z.string().meta({ description: "Key of the variant, unique in the session.", examples: ["main"] }),
    revision: z
      .int()
      .min(1)
      .meta({ description: "Number of the newest revision.", examples: [3] }),
    check: z
      .object({ status: z.enum(CHECK_STATUSES), at: timestamp })
      .nullable()
      .meta({ description: "Newest check of that revision. Null if it was not checked." }),
    publication: publicationSchema
      .nullable()
      .meta({ description: "The published release. Null if the variant is not published." }),
  })
  .meta({ id: "VariantSummary", description: "A variant and the state of its newest revision." });

/** A landing page in `run.completed`, the agent status and the lists. Source: `wire.md`, Landing pages. */
export const landingPageSchema = z
  .object({
    slug: z.string().meta({
      description: "Slug of the landing page: its name in the URL.",
      examples: ["spring-sale-k3q7"],
    }),
    url: z.string().meta({ examples: ["https://service.example/p/spring-sale-k3q7/"] }),
    version: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: "Number of the version that is served. Null while the page is unpublished." }),
    newestVersion: z
      .int()
      .min(1)
      .meta({ description: "Number of the newest version.", examples: [2] }),
    files: z
      .int()
      .nullable()
      .meta({
        description: "Number of files of the served version. Null while the page is unpublished.",
        examples: [4],
      }),
    bytes: z
      .int()
      .nullable()
      .meta({
        description:
          "Total size of the files of the served version, in bytes. Null while the page is unpublished.",
        examples: [18_240],
      }),
    note: z
      .string()
      .nullable()
      .meta({
        description:
          "The agent's note about the served version. Null if there is none, and while the page is unpublished.",
        examples: ["New headline"],
      }),
    updatedAt: timestamp,
  })
  .meta({ id: "LandingPage", description: "A page of static files that the agent deployed." });

/** Number of findings of each severity. */
const severityCountsSchema = z
  .object(Object.fromEntries(FINDING_SEVERITIES.map((severity) => [severity, count])) as SeverityCounts)
  .meta({
    id: "SeverityCounts",
    description: "Number of findings by severity.",
    examples: [{ critical: 0, serious: 2, moderate: 1, minor: 0, info: 3 }],
  });
type SeverityCounts = Record<(typeof FINDING_SEVERITIES)[number], typeof count>;

/** A report in `run.completed`, the agent status and the list of reports. Source: `wire.md`, Reports. */
export const reportSummarySchema = z
  .object({
    id: reportId,
    title: z.string().meta({ examples: ["Checkout audit"] }),
    version: z
      .int()
      .min(1)
      .meta({
        description:
          "Number of the version among the session's reports with this title. The highest number is the newest version.",
        examples: [1],
      }),
    url: z.string().meta({
      description: "Path of the report's page, for visitors of the session page.",
      examples: [`/s/ses_xdbqydi2z2jnnberubbghcrn/reports/${REPORT}`],
    }),
    counts: severityCountsSchema,
    createdAt: timestamp,
  })
  .meta({ id: "ReportSummary", description: "A QA report and the number of its findings." });

/** Describes a list that `run.completed` and the agent status contain. */
const listed = <Item extends z.ZodType>(item: Item, inEvent: string, inStatus: string) => ({
  item,
  inEvent: z.array(item).optional().meta({ description: inEvent }),
  inStatus: z.array(item).meta({ description: inStatus }),
});

/**
 * What the turns of a session have made, as `run.completed` and the agent status list it. TypeScript refuses a kind
 * without a reader (`lib/turn/run/session-outcomes.ts`), without its table in the fence of the closing statement
 * (`lib/turn/record/step-store.ts`), or without a tab of the page (`lib/page/state/drawer-tabs.ts`).
 */
const outcomeLists = {
  variants: listed(
    variantSummarySchema,
    "The variants of the session. Absent in structured sessions without variants, and in sub-agents.",
    "Variants of the session's pages. Empty for a sub-agent: variants belong to its root session.",
  ),
  reports: listed(
    reportSummarySchema,
    "The newest version of each report of the session. Absent if there is none.",
    "The newest version of each QA report of the session. Empty for a sub-agent.",
  ),
  pages: listed(
    landingPageSchema,
    "The landing pages of the session. Absent in structured sessions without pages, and in sub-agents.",
    "Landing pages that the session deployed. Empty for a sub-agent.",
  ),
};

type Lists = typeof outcomeLists;

/** A kind of outcome that `run.completed` and the agent status list. */
export type ListedOutcome = keyof Lists;

/** A kind of outcome. Test runs and sub-agents are not listed: `tests.completed` and `agent.settled` report each one. */
export type OutcomeKind = ListedOutcome | "tests" | "agents";

/** The listed outcomes of a session. */
export type OutcomeLists = { [Kind in ListedOutcome]: z.output<Lists[Kind]["item"]>[] };

const fieldsOf = <Place extends "inEvent" | "inStatus">(place: Place) =>
  // `Object.fromEntries` loses the names of the kinds.
  Object.fromEntries(Object.entries(outcomeLists).map(([kind, list]) => [kind, list[place]])) as {
    [Kind in ListedOutcome]: Lists[Kind][Place];
  };

/** The fields of `run.completed` that list outcomes. */
export const outcomeEventFields = fieldsOf("inEvent");

/** The fields of the agent status that list outcomes. */
export const outcomeStatusFields = fieldsOf("inStatus");
