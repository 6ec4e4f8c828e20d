import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { ElicitationForm, FormField } from "#db/schema/index.ts";
import { formSchema } from "#lib/events/form-schema.ts";
import type { ElicitationEnd } from "#lib/session/elicitation/elicitation.ts";
import type { FormRequest } from "./open-connection.ts";

/** What the person on the session page is asked: a form, or a plain question with options. */
export type AskedOnce = { question: string; options: string[] | null; form: ElicitationForm | null };

const QUESTION_MAX = 2_000;

/** What forms of the service have no use for is left out of a server's: annotations, patterns, and names of choices. */
const requestSchema = z.looseObject({
  properties: z.record(z.string(), z.looseObject({ type: z.string() })).default({}),
  required: z.array(z.string()).default([]),
});
const KEYWORDS =
  "type title description default enum oneOf format minLength maxLength minimum maximum minItems maxItems";

/**
 * Asks a person what a server's form wants to know. Whoever declines the form or does not answer is reported as such.
 * A form that the page cannot show is declined. Source: Model Context Protocol 2025-11-25, Elicitation, form mode.
 */
export async function askPerson(
  serverId: string,
  request: FormRequest,
  ask: (question: AskedOnce) => Promise<ElicitationEnd>,
): Promise<ElicitResult> {
  const parsed = requestSchema.safeParse(request.requestedSchema);
  if (!parsed.success) return { action: "decline" };
  const question = cut(`The tool server ${serverId} asks: ${request.message}`);
  if (Object.keys(parsed.data.properties).length === 0) {
    const end = await ask({ question, options: ["yes", "no"], form: null });
    if (end.state !== "answered") return toRefusal(end);
    const isYes = typeof end.answer === "string" && /^(yes|y|true|ok)$/i.test(end.answer.trim());
    return isYes ? { action: "accept", content: {} } : { action: "decline" };
  }
  const form = readForm(parsed.data);
  if (!form) return { action: "decline" };
  const end = await ask({ question, options: null, form });
  if (end.state !== "answered") return toRefusal(end);
  return { action: "accept", content: typeof end.answer === "string" ? {} : end.answer };
}

const toRefusal = ({ state }: ElicitationEnd): ElicitResult => ({
  action: state === "declined" ? "decline" : "cancel",
});

/** A server's form as a form of the service; undefined where a field is of a kind that forms do not have. */
function readForm({ properties, required }: z.output<typeof requestSchema>): ElicitationForm | undefined {
  const fields = Object.entries(properties).map(([name, field]) => [name, readField(field)]);
  return formSchema.safeParse({ properties: Object.fromEntries(fields), required }).data;
}

function readField(field: Record<string, unknown>): Record<keyof FormField, unknown> {
  const known = Object.fromEntries(
    Object.entries(field).filter(([name]) => KEYWORDS.split(" ").includes(name)),
  );
  const items = z
    .looseObject({ enum: z.unknown().optional(), anyOf: z.unknown().optional() })
    .safeParse(field.items);
  return { ...known, ...(items.success && { items: pick(items.data) }) } as Record<keyof FormField, unknown>;
}

const pick = ({ enum: values, anyOf }: { enum?: unknown; anyOf?: unknown }) => ({
  ...(values !== undefined && { enum: values }),
  ...(anyOf !== undefined && { anyOf }),
});

const cut = (question: string): string =>
  question.length <= QUESTION_MAX ? question : `${question.slice(0, QUESTION_MAX - 1).toWellFormed()}…`;
