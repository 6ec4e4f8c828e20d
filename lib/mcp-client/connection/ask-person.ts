import type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { ElicitationEnd } from "#lib/session/elicitation/elicitation.ts";
import type { FormRequest } from "./open-connection.ts";

/** Puts one question to the person on the session page. */
export type AskOne = (question: { question: string; options: string[] | null }) => Promise<ElicitationEnd>;

const FIELDS_MAX = 8;
const TRIES = 3;
const OPTIONS_MAX = 20;
const QUESTION_MAX = 2_000;

const text = z.string();
const fieldSchema = z.looseObject({
  type: z.enum(["string", "number", "integer", "boolean", "array"]),
  title: text.optional(),
  description: text.optional(),
  enum: z.array(text).optional(),
  oneOf: z.array(z.looseObject({ const: text, title: text.optional() })).optional(),
  items: z
    .looseObject({
      enum: z.array(text).optional(),
      anyOf: z.array(z.looseObject({ const: text, title: text.optional() })).optional(),
    })
    .optional(),
  default: z.unknown().optional(),
});
const formSchema = z.looseObject({
  properties: z.record(z.string(), fieldSchema),
  required: z.array(text).default([]),
});

type Field = z.output<typeof fieldSchema>;
type Value = string | number | boolean | string[];

/** What a person writes to leave out a field that may be left out, or to take its default. */
const SKIP = "skip";

/**
 * Asks a person what a server's form wants to know, one question per field. Whoever declines a question or does not
 * answer has declined the form; the server is told which of the two.
 * Source: Model Context Protocol 2025-11-25, Elicitation, form mode.
 */
export async function askPerson(
  serverId: string,
  request: FormRequest,
  askOne: AskOne,
): Promise<ElicitResult> {
  const form = formSchema.safeParse(request.requestedSchema);
  const fields = form.success ? Object.entries(form.data.properties) : [];
  if (!form.success || fields.length > FIELDS_MAX) return { action: "decline" };
  const head = `The tool server ${serverId} asks: ${request.message}`;
  if (fields.length === 0) {
    const end = await askOne({ question: cut(head), options: ["yes", "no"] });
    if (end.state !== "answered") return { action: end.state === "declined" ? "decline" : "cancel" };
    return readYes(end.answer) === true ? { action: "accept", content: {} } : { action: "decline" };
  }
  const content: Record<string, Value> = {};
  for (const [name, field] of fields) {
    const isRequired = form.data.required.includes(name) && field.default === undefined;
    const asked = await askField(head, name, field, isRequired, askOne);
    if (asked.state !== "answered") return { action: asked.state === "declined" ? "decline" : "cancel" };
    if (asked.value !== undefined) content[name] = asked.value;
  }
  return { action: "accept", content };
}

type FieldEnd = { state: "answered"; value: Value | undefined } | { state: "declined" | "unanswered" };

async function askField(
  head: string,
  name: string,
  field: Field,
  isRequired: boolean,
  askOne: AskOne,
): Promise<FieldEnd> {
  const choices = listChoices(field);
  const label = [field.title ?? name, field.description].filter((each) => each).join(": ");
  const notes = [
    field.type === "array" && "Several answers are separated by commas.",
    (field.type === "number" || field.type === "integer") && `A ${field.type} is expected.`,
    !isRequired && field.default === undefined && `Write "${SKIP}" to leave it out.`,
    field.default !== undefined && `Write "${SKIP}" for ${JSON.stringify(field.default)}.`,
  ].filter((note) => note !== false);
  let problem = "";
  for (let tries = 0; tries < TRIES; tries++) {
    const question = cut([head, `${label}. ${notes.join(" ")}`, problem].filter(Boolean).join("\n\n"));
    const options = field.type === "array" ? null : choices.map(({ title }) => title).slice(0, OPTIONS_MAX);
    const end = await askOne({ question, options: options?.length ? options : null });
    if (end.state !== "answered") return { state: end.state };
    const answer = end.answer.trim();
    // The SDK puts the default in for what is left out.
    if (!isRequired && answer.toLowerCase() === SKIP) return { state: "answered", value: undefined };
    const value = readValue(field, choices, answer);
    if (value !== undefined) return { state: "answered", value };
    problem = `"${answer.slice(0, 100)}" does not fit.`;
  }
  return { state: "declined" };
}

type Choice = { value: string; title: string };

function listChoices({ type, enum: values, oneOf, items }: Field): Choice[] {
  if (type === "boolean") return ["yes", "no"].map((value) => ({ value, title: value }));
  const plain = values ?? items?.enum ?? [];
  const titled = oneOf ?? items?.anyOf ?? [];
  return [
    ...plain.map((value) => ({ value, title: value })),
    ...titled.map(({ const: value, title }) => ({ value, title: title ?? value })),
  ];
}

/** An answer as the field's value; undefined where it does not fit. */
function readValue({ type }: Field, choices: Choice[], answer: string): Value | undefined {
  const choose = (said: string) =>
    choices.length === 0 ? said : choices.find(({ value, title }) => said === title || said === value)?.value;
  switch (type) {
    case "boolean":
      return readYes(answer);
    case "string":
      return choose(answer);
    case "array": {
      const chosen = answer.split(",").map((part) => choose(part.trim()));
      return chosen.every((each) => each !== undefined) ? chosen : undefined;
    }
    default: {
      const value = Number(answer);
      const fits =
        answer !== "" && (type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value));
      return fits ? value : undefined;
    }
  }
}

function readYes(answer: string): boolean | undefined {
  if (/^(yes|y|true|ok)$/i.test(answer.trim())) return true;
  return /^(no|n|false)$/i.test(answer.trim()) ? false : undefined;
}

const cut = (question: string): string =>
  question.length <= QUESTION_MAX ? question : `${question.slice(0, QUESTION_MAX - 1).toWellFormed()}…`;
