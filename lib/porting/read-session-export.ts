import type { z } from "zod";
import { checkDocumentContent } from "#lib/variant/compile/check-document.ts";
import { findSelectorProblem } from "#lib/variant/compile/check-selector.ts";
import { formatPath } from "#lib/variant/formats/imported/imported.ts";
import {
  type ExportedMessage,
  type ExportedRequirement,
  type ExportedVariant,
  type LeftOut,
  PART_SCHEMAS,
  type SessionExport,
  sessionExportSchema,
} from "./format.ts";
import type { ReadContent } from "./import-content.ts";

const LEFT_OUT_MAX = 200;

/**
 * Reads and validates a session's JSON export of format version 1.
 *
 * @see readDocument
 */
export function readSessionExport(value: unknown): ReadContent {
  const parsed = sessionExportSchema.safeParse(value, { error: describeIssue });
  if (!parsed.success) return { ok: false, problem: describeFirst(parsed.error.issues) };
  const document = parsed.data;
  const problem =
    findDuplicate(document) ??
    findVariantProblem(document.variants) ??
    findRequirementProblem(document.requirements) ??
    findPartProblem(document.messages);
  if (problem !== undefined) return { ok: false, problem };
  const leftOut: LeftOut[] = [];
  const messages = document.messages.map((message, index) =>
    selectKnownParts(message, `messages[${index}]`, leftOut),
  );
  leftOut.push(...listLeftOut(document));
  return {
    ok: true,
    content: {
      format: "agent-session",
      documentId: document.id,
      title: document.session.title,
      sourceSessionId: document.session.id,
      exportedAt: document.exportedAt,
      variants: document.variants.map(({ key, document: pages }) => ({ key, document: pages })),
      messages,
      planItems: document.plan?.items.map(({ text, status }) => ({ text, status })) ?? [],
      requirements: document.requirements.flatMap(({ text, assertion, status }, index) =>
        status === "waived" ? [] : [{ field: `requirements[${index}]`, text, assertion }],
      ),
      leftOut: limit(leftOut),
    },
  };
}

/** Finds the first message, variant or requirement that has the same id or key as an earlier one. */
function findDuplicate({ messages, variants, requirements }: SessionExport): string | undefined {
  return (
    findRepeated(messages, ({ id }) => id, "messages", "id") ??
    findRepeated(variants, ({ key }) => key, "variants", "key") ??
    findRepeated(requirements, ({ id }) => id, "requirements", "id")
  );
}

function findRepeated<Item>(items: Item[], read: (item: Item) => string, list: string, field: string) {
  const first = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const earlier = first.get(read(item));
    if (earlier !== undefined)
      return `${list}[${index}].${field}: is the same as ${list}[${earlier}].${field}`;
    first.set(read(item), index);
  }
  return undefined;
}

function findVariantProblem(variants: ExportedVariant[]): string | undefined {
  for (const [index, { document }] of variants.entries()) {
    const place = `variants[${index}].document`;
    if (document.pages.length === 0) return `${place}.pages: must not be empty`;
    const [flaw] = checkDocumentContent(document);
    if (flaw) return `${place}.${flaw.path}: ${flaw.problem}`;
  }
  return undefined;
}

function findRequirementProblem(requirements: ExportedRequirement[]): string | undefined {
  for (const [index, { assertion }] of requirements.entries()) {
    const problem = assertion && findSelectorProblem(assertion.selector);
    if (problem) return `requirements[${index}].assertion.selector: ${problem}`;
  }
  return undefined;
}

function findPartProblem(messages: ExportedMessage[]): string | undefined {
  for (const [index, { parts }] of messages.entries())
    for (const [position, part] of parts.entries()) {
      const parsed = schemaOf(part.type)?.safeParse(part, { error: describeIssue });
      if (parsed && !parsed.success)
        return describeFirst(parsed.error.issues, ["messages", index, "parts", position]);
    }
  return undefined;
}

const schemaOf = (type: string): z.ZodType | undefined =>
  Object.hasOwn(PART_SCHEMAS, type) ? PART_SCHEMAS[type] : undefined;

function selectKnownParts(message: ExportedMessage, place: string, leftOut: LeftOut[]): ExportedMessage {
  const parts = message.parts.filter((part, index) => {
    if (schemaOf(part.type)) return true;
    leftOut.push({
      field: `${place}.parts[${index}]`,
      reason: "This service does not support this part of a message.",
    });
    return false;
  });
  return { ...message, parts };
}

const REASONS: Partial<Record<keyof SessionExport, string>> = {
  reports: "Reports tell what was tested in the exported session.",
  pages: "Landing pages stay with the exported session.",
  deliverables: "Results belong to the turns of the exported session.",
  receipts: "They tell where the values of these results are.",
  previews: "Their pictures show the exported session; take previews again.",
  annotations: "They were made in the browser of the exported session.",
  agents: "Sub-agents and their results belong to the exported session.",
  imports:
    "Documents that the exported session imported are not imported again; import each document itself.",
  evidence: "Pictures and files stay with the exported session.",
  leftOut: "The export itself left out these parts of its session.",
};
const IMPORTED_FIELDS = [
  "format",
  "version",
  "id",
  "exportedAt",
  "session",
  "messages",
  "variants",
  "plan",
  "requirements",
];

/**
 * Lists what an import leaves out: the parts of the export that are never imported, and the fields that this version of
 * the service does not know.
 */
function listLeftOut(document: SessionExport): LeftOut[] {
  const parts = Object.entries(document).flatMap(([field, value]): LeftOut[] => {
    if (IMPORTED_FIELDS.includes(field)) return [];
    const reason = REASONS[field];
    if (reason === undefined)
      return [{ field: formatPath([field]), reason: "This service does not know the field." }];
    return Array.isArray(value) && value.length > 0 ? [{ field, reason }] : [];
  });
  const variants = document.variants.flatMap(({ check, publication }, index): LeftOut[] => [
    ...(check
      ? [
          {
            field: `variants[${index}].check`,
            reason: "A check is only valid for the page at that time; check the variant again.",
          },
        ]
      : []),
    ...(publication
      ? [
          {
            field: `variants[${index}].publication`,
            reason: "The publication stays with the exported session.",
          },
        ]
      : []),
  ]);
  return [
    { field: "session", reason: "This session keeps its own settings." },
    ...variants,
    ...listLeftOutPlanning(document),
    ...parts,
  ];
}

/**
 * Lists what an import leaves out of the plan and the requirements: the plan's mode, waived requirements, and the
 * statuses, notes, evidence and check results of the other requirements.
 */
function listLeftOutPlanning({ plan, requirements }: SessionExport): LeftOut[] {
  const isDecided = requirements.some(
    ({ status, note, outcome, evidenceIds }) =>
      status === "met" || status === "failed" || note !== null || outcome !== null || evidenceIds.length > 0,
  );
  return [
    ...(plan && plan.mode !== "off"
      ? [{ field: "plan.mode", reason: "People agree to a plan in each session." }]
      : []),
    ...requirements.flatMap(({ status }, index) =>
      status === "waived"
        ? [{ field: `requirements[${index}]`, reason: "People waived it in the exported session." }]
        : [],
    ),
    ...(isDecided
      ? [
          {
            field: "requirements",
            reason:
              "Statuses, notes, evidence and results of checks belong to the exported session; imported requirements are open.",
          },
        ]
      : []),
  ];
}

function limit(leftOut: LeftOut[]): LeftOut[] {
  if (leftOut.length <= LEFT_OUT_MAX) return leftOut;
  const reason = `${leftOut.length - LEFT_OUT_MAX} more parts are left out, for similar reasons.`;
  return [...leftOut.slice(0, LEFT_OUT_MAX), { field: "document", reason }];
}

type Issue = z.core.$ZodIssue;

const NOUNS: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "a boolean",
  object: "an object",
  record: "an object",
  array: "an array",
};

/** Builds the error message for a schema rule that has no message of its own. */
function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${NOUNS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      return `must be at least ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}`;
    default:
      return "is invalid";
  }
}

function describeFirst(issues: readonly Issue[], place: PropertyKey[] = []): string {
  const [issue] = issues;
  if (!issue) return "document: is invalid";
  if (issue.code === "unrecognized_keys")
    return `${formatPath([...place, ...issue.path, issue.keys[0] ?? ""])}: unknown field`;
  return `${formatPath([...place, ...issue.path]) || "document"}: ${issue.message}`;
}
