import type { FormField } from "#db/schema/index.ts";
import { type FormValues, readForm } from "#lib/page/state/form-values.ts";
import type { InboxItemRow } from "#lib/session/store/inbox-store.ts";

/** What a person has sent with the form of an item. */
type Reply =
  | { kind: "settlement"; settlement: { answer: string | Record<string, unknown> } | { decline: true } }
  | { kind: "settlement"; settlement: { approve: true } | { deny: true; reason?: string } }
  /** A form that must be corrected. `problems` has a sentence for each invalid field; `""` is the whole answer. */
  | { kind: "invalid"; problems: Record<string, string> };

export const FIELD_PREFIX = "field.";
export const TEXT_MAX = 100_000;
export const REASON_MAX = 2_000;

/** Reads what a person has sent. The buttons of the form have the name `do`. */
export function readReply(item: Pick<InboxItemRow, "kind" | "form">, sent: URLSearchParams): Reply {
  const button = sent.get("do");
  if (item.kind === "approval") {
    if (button === "approve") return { kind: "settlement", settlement: { approve: true } };
    const reason = (sent.get("reason") ?? "").trim();
    if (reason.length > REASON_MAX)
      return invalid("reason", `must be at most ${REASON_MAX.toLocaleString("en")} characters`);
    if (button === "deny")
      return { kind: "settlement", settlement: { deny: true, ...(reason !== "" && { reason }) } };
    return invalid("", "Choose one of the buttons.");
  }
  if (button === "decline") return { kind: "settlement", settlement: { decline: true } };
  if (button !== "answer") return invalid("", "Choose one of the buttons.");
  if (item.form) {
    const { answer, problems } = readForm(item.form, readValues(item.form.properties, sent));
    return Object.keys(problems).length > 0
      ? { kind: "invalid", problems }
      : { kind: "settlement", settlement: { answer } };
  }
  const text = (sent.get("text") ?? "").trim() || (sent.get("option") ?? "");
  if (text === "") return invalid("text", "is required");
  if (text.length > TEXT_MAX)
    return invalid("text", `must be at most ${TEXT_MAX.toLocaleString("en")} characters`);
  return { kind: "settlement", settlement: { answer: text } };
}

const invalid = (field: string, problem: string): Reply => ({
  kind: "invalid",
  problems: { [field]: problem },
});

/** Reads the values of a form's fields. A number that cannot be read stays text, which the check of the form refuses. */
export const readValues = (properties: Record<string, FormField>, sent: URLSearchParams): FormValues =>
  Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => {
      const key = `${FIELD_PREFIX}${name}`;
      const text = sent.get(key) ?? undefined;
      if (type === "boolean") return [name, text !== undefined];
      if (type === "array") return [name, sent.getAll(key)];
      if (type === "string" || text === undefined || text.trim() === "") return [name, text];
      const number = Number(text);
      return [name, Number.isNaN(number) ? text : number];
    }),
  );
