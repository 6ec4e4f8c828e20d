import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { ElicitationForm } from "#db/schema/index.ts";
import { formSchema } from "#lib/events/form-schema.ts";
import type { ElicitationEnd } from "#lib/session/elicitation/elicitation.ts";
import { shorten } from "#lib/text/shorten.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { FormRequest } from "./mcp-connection.ts";

/** A question to the person on the session page: either a form, or a plain question with options. */
type PersonQuestion = { question: string; options: string[] | null; form: ElicitationForm | null };

const QUESTION_MAX = 2_000;

/** The parts of a server's form that the service reads. */
const requestSchema = z.looseObject({
  properties: z.record(z.string(), z.looseObject({ type: z.string() })).default({}),
  required: z.array(z.string()).default([]),
});
const KEYWORDS = new Set(
  "type enum oneOf format minLength maxLength minimum maximum minItems maxItems".split(" "),
);
const LABEL_MAX = 200;
const DESCRIPTION_MAX = 1_000;

/** A question, and what to send to the server when it has ended. */
type PlannedQuestion = { question: PersonQuestion; toResult: (end: ElicitationEnd) => ElicitResult };

/**
 * Plans how a person is asked for what a server's form asks for, and returns what to send to the server. A form without
 * fields is shown as a choice between yes and no. The action is `decline` if the person declines, or if the answer to a
 * choice is not yes. The action is `cancel` if the question ends unanswered. Source: Model Context Protocol 2025-11-25,
 * Elicitation, form mode.
 *
 * @returns undefined if the page cannot show the form.
 */
export function planQuestion(serverId: string, request: FormRequest): PlannedQuestion | undefined {
  const parsed = requestSchema.safeParse(request.requestedSchema);
  if (!parsed.success) return undefined;
  const question = cut(`The tool server ${serverId} asks: ${request.message}`);
  if (Object.keys(parsed.data.properties).length === 0)
    return { question: { question, options: ["yes", "no"], form: null }, toResult: readChoice };
  const form = readForm(parsed.data);
  return form && { question: { question, options: null, form }, toResult: readValues };
}

/** Reads the form of an `elicitation/create` request; undefined if it is in another mode. */
export function askedForm(params: Record<string, unknown> | null | undefined): FormRequest | undefined {
  const { message, mode, requestedSchema } = params ?? {};
  const isForm =
    typeof message === "string" && (mode ?? "form") === "form" && (requestedSchema ?? null) !== null;
  return isForm ? { message, requestedSchema } : undefined;
}

function readChoice(end: ElicitationEnd): ElicitResult {
  if (end.state !== "answered") return toRefusal(end);
  const isYes = typeof end.answer === "string" && /^(yes|y|true|ok)$/i.test(end.answer.trim());
  return isYes ? { action: "accept", content: {} } : { action: "decline" };
}

function readValues(end: ElicitationEnd): ElicitResult {
  if (end.state !== "answered") return toRefusal(end);
  return { action: "accept", content: typeof end.answer === "string" ? {} : end.answer };
}

const toRefusal = ({ state }: ElicitationEnd): ElicitResult => ({
  action: state === "declined" ? "decline" : "cancel",
});

/** Converts a server's form to a form of the service; undefined if the page cannot show one of its fields. */
function readForm({ properties, required }: z.output<typeof requestSchema>): ElicitationForm | undefined {
  const fields = Object.entries(properties).map(([name, field]) => [name, readField(field)] as const);
  const parse = (entries: typeof fields) =>
    formSchema.safeParse({ properties: Object.fromEntries(entries), required }).data;
  // If a default does not fit its field, the form is shown without defaults.
  return parse(fields) ?? parse(fields.map(([name, { default: _, ...field }]) => [name, field] as const));
}

/** Converts a field of a server's form. Unknown keywords and empty titles are dropped; long texts are cut. */
function readField(field: Record<string, unknown>): Record<string, unknown> {
  const { title, description, default: start, items, ...rest } = field;
  const supported = Object.fromEntries(Object.entries(rest).filter(([name]) => KEYWORDS.has(name)));
  const picked = z
    .looseObject({ enum: z.unknown().optional(), anyOf: z.unknown().optional() })
    .safeParse(items);
  return {
    ...supported,
    ...(isText(title) && { title: beginningOf(title, LABEL_MAX).toWellFormed() }),
    ...(isText(description) && { description: beginningOf(description, DESCRIPTION_MAX).toWellFormed() }),
    ...(start !== undefined && start !== null && { default: start }),
    ...(picked.success && { items: pickChoices(picked.data) }),
  };
}

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

const pickChoices = ({ enum: values, anyOf }: { enum?: unknown; anyOf?: unknown }) => ({
  ...(values !== undefined && { enum: values }),
  ...(anyOf !== undefined && { anyOf }),
});

const cut = (question: string): string => shorten(question, QUESTION_MAX).toWellFormed();
