import { z } from "zod";
import type { Assertion } from "#db/schema/index.ts";
import { ASSERTION_KINDS } from "#db/schema/unions.ts";
import type { Requirement } from "#lib/events/event.ts";
import { httpUrlUpTo } from "#lib/text/http-url.ts";
import { oneLine } from "#lib/text/one-line.ts";
import type { RequirementRow } from "./planning-store.ts";

export const REQUIREMENT_LIMITS = {
  perSession: 100,
  perCall: 20,
  textChars: 500,
  noteChars: 1_000,
  urlChars: 2_048,
  selectorChars: 500,
  valueChars: 500,
  evidence: 20,
} as const;

const upTo = (max: number) =>
  z
    .string()
    .trim()
    .min(1, { error: "must not be empty" })
    .max(max, { error: `must be at most ${max.toLocaleString("en")} characters` });

export const requirementTextSchema = upTo(REQUIREMENT_LIMITS.textChars);
export const requirementNoteSchema = z
  .string()
  .trim()
  .max(REQUIREMENT_LIMITS.noteChars, { error: "must be at most 1,000 characters" });

export const requirementIdSchema = z
  .string()
  .regex(/^r[1-9]\d{0,3}$/, { error: "must be the id of a requirement, such as r1" });

export const evidenceIdsSchema = z
  .array(z.string().max(64))
  .max(REQUIREMENT_LIMITS.evidence, { error: `must hold at most ${REQUIREMENT_LIMITS.evidence} ids` });

/**
 * Schema of an assertion in a request. It does not check the selector's syntax; the caller does that with
 * `findSelectorProblem`.
 */
export const assertionInputSchema = z
  .strictObject({
    url: httpUrlUpTo(REQUIREMENT_LIMITS.urlChars),
    selector: upTo(REQUIREMENT_LIMITS.selectorChars).meta({ examples: ["#pay"] }),
    is: z.enum(ASSERTION_KINDS).meta({ examples: ["text"] }),
    value: z
      .union([z.string().max(REQUIREMENT_LIMITS.valueChars), z.int().min(0)], {
        error: "must be a text of at most 500 characters, or a number of elements",
      })
      .optional()
      .meta({
        description: "`text`: the whole text of the element. `count`: the number of matching elements.",
        examples: ["Pay now"],
      }),
  })
  .superRefine(({ is, value }, context) => {
    const message = explainValue(is, value);
    if (message !== undefined) context.addIssue({ code: "custom", path: ["value"], message });
  });

function explainValue(is: Assertion["is"], value: string | number | undefined): string | undefined {
  if (is === "text") return typeof value === "string" ? undefined : "must be the text, where `is` is text";
  if (is === "count")
    return typeof value === "number" ? undefined : "must be the number of elements, where `is` is count";
  return value === undefined ? undefined : `must be left out, where \`is\` is ${is}`;
}

export type AssertionInput = z.output<typeof assertionInputSchema>;

/** Converts an assertion from the shape of a request to its stored shape. */
export const toAssertion = ({ url, selector, is, value }: AssertionInput): Assertion => ({
  url,
  selector,
  is,
  ...(value !== undefined && { value }),
});

/** Reads the number in a requirement's id, such as 3 in `r3`. */
export const numberOf = (id: string): number => Number(id.slice(1));

/** Converts a stored requirement to the shape in which the API shows it. */
export const toRequirement = (row: RequirementRow): Requirement => ({
  id: `r${row.number}`,
  text: row.text,
  status: row.status,
  note: row.note,
  evidenceIds: row.evidence.map(({ id }) => id),
  evidence: row.evidence,
  assertion: row.assertion,
  outcome: row.outcome,
  author: row.author,
  updatedAt: row.updatedAt.toISOString(),
});

/** Formats a requirement for the model, on one line. */
export function describeRequirement({
  id,
  status,
  text,
  author,
  assertion,
  outcome,
  evidenceIds,
  note,
}: Requirement): string {
  const parts = [`- ${id} [${status}]${author === "person" ? " (by a person)" : ""} ${oneLine(text)}`];
  if (assertion) {
    const { url, selector, is, value } = assertion;
    const wanted = value === undefined ? "" : ` ${JSON.stringify(value)}`;
    parts.push(`assertion: ${selector} is ${is}${wanted} on ${url}`);
  }
  if (outcome) {
    parts.push(`check of revision ${outcome.revision} of ${outcome.variant}: ${outcome.status}`);
  }
  if (evidenceIds.length > 0) parts.push(`evidence: ${evidenceIds.join(", ")}`);
  if (note) parts.push(`note: ${oneLine(note)}`);
  return parts.join("; ");
}
