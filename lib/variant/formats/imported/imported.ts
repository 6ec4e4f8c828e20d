import { z } from "zod";
import type { PageInput } from "../../document.ts";

/** Which experiment and variation of a document to import, and the address to use as a fallback. */
export type ImportOptions = {
  /** Key, id or name of the experiment. Defaults to the first experiment that has changes. */
  experiment?: string | undefined;
  /**
   * Key, id, name or number of the variation. Defaults to the first variation that has changes and is not the control.
   */
  variation?: string | undefined;
  /**
   * Address to use for changes whose own address pattern has no equivalent here. If omitted, such changes are not
   * imported.
   */
  url?: string | undefined;
};

/** The pages of an imported variant. `omitted` has a sentence for each part that was left out. */
export type Imported =
  | { ok: true; pages: PageInput[]; omitted: string[] }
  /** Nothing can be imported. The problem text begins with the path of the field. */
  | { ok: false; problem: string };

/** Cuts a text of an imported document to 200 characters, and quotes it for an error sentence. */
export const quote = (text: string): string => JSON.stringify(text.slice(0, 200).toWellFormed());

/** Formats a path as text, such as `experiments[0].variations`. */
export const formatPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    const name = String(key).slice(0, 200).toWellFormed();
    if (!/^[\w$-]+$/.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === "" ? name : `${text}.${name}`;
  }, "");

/** Parses a part of a document. The problem text begins with the path of the invalid field. */
export function parsePart<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: string,
): { ok: true; value: z.output<Schema> } | { ok: false; problem: string } {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const [issue] = parsed.error.issues;
  const place = formatPath(issue?.path ?? []);
  const separator = path === "" || place === "" || place.startsWith("[") ? "" : ".";
  return {
    ok: false,
    problem: `${path + separator + place || "document"}: ${issue?.message ?? "is invalid"}`,
  };
}

/** Functions that create schemas for imported documents, with error messages for people. Unknown fields are ignored. */
export const field = {
  text: () => z.string({ error: "must be a string" }),
  /** A string that may be absent or null. */
  optionalText: () => z.string({ error: "must be a string" }).nullish(),
  object: <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape, { error: "must be an object" }),
  /** An array whose length is checked before its entries. */
  array: <Item extends z.ZodType>(item: Item, max: number) =>
    z
      .array(z.unknown(), { error: "must be an array" })
      .max(max, { error: `must hold at most ${max.toLocaleString("en")} entries` })
      .pipe(z.array(item)),
};

/** Whether a value is an object with an own property of this name. */
export const hasOwn = (value: unknown, name: string): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name);
