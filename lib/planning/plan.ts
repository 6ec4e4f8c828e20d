import { z } from "zod";
import type { PlanItem } from "#db/schema/index.ts";
import { PLAN_ITEM_STATUSES } from "#db/schema/unions.ts";
import type { Plan } from "#lib/events/event.ts";
import { oneLine } from "#lib/text/one-line.ts";
import type { PlanRow } from "./planning-store.ts";

export const PLAN_LIMITS = { itemsMax: 50, textChars: 500 } as const;

const planItemTextSchema = z
  .string()
  .trim()
  .min(1, { error: "must not be empty" })
  .max(PLAN_LIMITS.textChars, { error: `must be at most ${PLAN_LIMITS.textChars} characters` });

const planItemIdSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,15}$/, { error: "must be a letter and up to 15 letters, digits, - or _" })
  .meta({ examples: ["p1"] });

/** Schema of the items in a call of `update_plan`. */
export const planItemsSchema = z
  .array(
    z.strictObject({
      id: planItemIdSchema.optional().describe("of an item that is kept; leave out for a new one"),
      text: planItemTextSchema,
      status: z.enum(PLAN_ITEM_STATUSES),
    }),
  )
  .max(PLAN_LIMITS.itemsMax, { error: `must hold at most ${PLAN_LIMITS.itemsMax} items` });

/** Schema of a person's edit of a plan. `was` is the item's text as the person saw it before the edit. */
export const planEditSchema = z.discriminatedUnion(
  "action",
  [
    z.strictObject({
      action: z.literal("add"),
      text: planItemTextSchema,
      after: planItemIdSchema.nullable().optional().meta({
        description:
          "Id of the item after which the new item is added. Null adds it at the beginning; omit to add it at the end.",
      }),
    }),
    z.strictObject({
      action: z.literal("setText"),
      id: planItemIdSchema,
      text: planItemTextSchema,
      was: z.string().meta({
        description:
          "The item's text as the editor last saw it. If the item now has a different text, the edit is refused with 409.",
      }),
    }),
    z.strictObject({
      action: z.literal("setStatus"),
      id: planItemIdSchema,
      status: z.enum(PLAN_ITEM_STATUSES),
    }),
  ],
  {
    error: ({ code }) =>
      code === "invalid_union" ? 'must be one of "add", "setText", "setStatus"' : undefined,
  },
);
export type PlanEdit = z.output<typeof planEditSchema>;

/**
 * The items of a plan. `lastItem` is the highest number that any id of the form `p<number>` in this plan has ever had.
 */
type PlanItems = { items: PlanItem[]; lastItem: number };
type Revised = ({ ok: true } & PlanItems) | { ok: false; problem: string };

/**
 * Builds the new list of items from the agent's items. An item without an id gets the id of a current item with the
 * same text, or else the next unused id. If two of the agent's items have the same id, returns a problem that begins
 * with the name of the field.
 */
export function replaceItems(
  current: PlanItems,
  newItems: readonly (Omit<PlanItem, "id"> & { id?: string | undefined })[],
): Revised {
  const usedIds = new Set<string>();
  for (const [index, { id }] of newItems.entries()) {
    if (id === undefined) continue;
    if (usedIds.has(id)) return { ok: false, problem: `items[${index}].id: ${id} is used twice` };
    usedIds.add(id);
  }
  let lastItem = Math.max(current.lastItem, ...[...usedIds].map(numberOf));
  const items = newItems.map(({ id, text, status }): PlanItem => {
    const same = current.items.find((item) => item.text === text && !usedIds.has(item.id))?.id;
    const own = id ?? same ?? `p${++lastItem}`;
    usedIds.add(own);
    return { id: own, text, status };
  });
  return { ok: true, items, lastItem };
}

const numberOf = (id: string): number => Number(/^p(\d{1,9})$/.exec(id)?.[1] ?? 0);

/**
 * Applies a person's edits to the current plan, in order. Refuses all edits if one of them names an item that does not
 * exist, replaces a text that has changed since the person saw it, or adds an item to a full plan. The problem then
 * begins with the path of the edit, such as `edits[0]`.
 */
export function editItems(current: PlanItems, edits: readonly PlanEdit[]): Revised {
  let { items, lastItem } = current;
  for (const [index, edit] of edits.entries()) {
    const field = `edits[${index}]`;
    if (edit.action === "add") {
      if (items.length >= PLAN_LIMITS.itemsMax)
        return {
          ok: false,
          problem: `${field}: the plan has ${items.length} items; a plan may have ${PLAN_LIMITS.itemsMax}`,
        };
      const { after } = edit;
      const at = after === null ? 0 : after === undefined ? items.length : 1 + indexOf(items, after);
      if (at === 0 && after) return missingItem(`${field}.after`, after);
      lastItem += 1;
      items = items.toSpliced(at, 0, { id: `p${lastItem}`, text: edit.text, status: "todo" });
      continue;
    }
    const at = indexOf(items, edit.id);
    const item = items[at];
    if (!item) return missingItem(`${field}.id`, edit.id);
    if (edit.action === "setStatus") items = items.with(at, { ...item, status: edit.status });
    else if (item.text !== edit.was)
      return {
        ok: false,
        problem: `${field}.was: ${edit.id} reads ${JSON.stringify(item.text)} now; read the plan and edit that`,
      };
    else items = items.with(at, { ...item, text: edit.text });
  }
  return { ok: true, items, lastItem };
}

const indexOf = (items: readonly PlanItem[], id: string): number => items.findIndex((item) => item.id === id);

const missingItem = (field: string, id: string) => ({
  ok: false as const,
  problem: `${field}: the plan has no item ${id}; it may have been replaced, read the plan`,
});

/** Whether two lists have equal items in the same order. */
export const isSamePlan = (one: readonly PlanItem[], other: readonly PlanItem[]): boolean =>
  one.length === other.length &&
  one.every(({ id, text, status }, index) => {
    const counterpart = other[index];
    return counterpart?.id === id && counterpart.text === text && counterpart.status === status;
  });

/** Converts a stored plan to the shape in which the API shows it. A session without a plan gets an empty plan. */
export function toPlan(row: PlanRow | undefined): Plan {
  if (!row) return { mode: "off", items: [], revision: 0, author: null, updatedAt: null };
  const { mode, items, revision, author, updatedAt } = row;
  return {
    mode,
    items: items.map(({ id, text, status }) => ({ id, text, status })),
    revision,
    author: revision === 0 ? null : author,
    updatedAt: updatedAt.toISOString(),
  };
}

/** Whether a person has to agree to a plan before the agent may change anything. */
export const awaitsAgreement = ({ mode, items }: Pick<Plan, "mode" | "items">): boolean =>
  mode === "plan_first" && items.some(({ status }) => status === "todo" || status === "in_progress");

/** Formats a plan for the model, one line per item. */
export const describeItems = (items: readonly PlanItem[]): string =>
  items.map(({ id, status, text }) => `- ${id} [${status}] ${oneLine(text)}`).join("\n");
