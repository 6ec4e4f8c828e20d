import { z } from "zod";
import type { PageMatch } from "#lib/injected/runtime/match-address.ts";
import type { Position } from "#lib/injected/runtime/runtime-types.ts";

/** Limits of a variant. Source: `architecture.md`, Variants. */
export const VARIANT_LIMITS = {
  changesMax: 200,
  documentBytesMax: 256 * 1024,
  pagesMax: 20,
  revisionsKept: 100,
  variantsMax: 26,
} as const;

/** The key of the variant that a call uses if the call does not name a variant. */
export const DEFAULT_VARIANT = "main";

export const variantKeySchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, {
    error: "must be 1 to 32 lowercase letters, digits and hyphens, and must not begin with a hyphen",
  })
  .meta({ description: "Key of the variant.", examples: ["main"] });

export type { PageMatch, Position };
export const PAGE_MATCHES = ["exact", "path", "prefix", "glob"] as const satisfies PageMatch[];
export const POSITIONS = ["before", "start", "end", "after"] as const satisfies Position[];

const text = (max: number) =>
  z.string().max(max, { error: `must be at most ${max.toLocaleString("en")} characters` });

const selector = text(1_000)
  .min(1, { error: "must not be empty" })
  .meta({
    description:
      "CSS selector of the elements to change. Open shadow roots are searched too; `a >> b` finds `b` inside `a`.",
    examples: ["#pay"],
  });
const html = text(100_000).meta({
  description: "HTML without scripts and event handlers.",
  examples: ['<p class="note">Free returns</p>'],
});

export const changeIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, { error: "must be 1 to 32 letters, digits, _ and -" })
  .meta({ description: "Id of the change, unique in the variant.", examples: ["c1"] });

const common = {
  selector,
  late: z.boolean().optional().meta({
    description:
      "`true` if the element appears only after the page has loaded, so that it need not exist when the change is stored.",
  }),
  off: z.boolean().optional().meta({ description: "`true` if the change is stored but not applied." }),
  note: text(300).optional().meta({ description: "What the change is for, in words." }),
};

const attributeName = z.string().regex(/^[A-Za-z_][\w.:-]{0,63}$/, { error: "must be an attribute name" });
const className = z.string().regex(/^\S{1,200}$/, { error: "must be one class name, without spaces" });
const styleProperty = z
  .string()
  .regex(/^(--[\w-]{1,62}|-?[a-z][a-z-]{0,63})$/, { error: "must be a CSS property name in lower case" });
const style = z
  .record(styleProperty, text(2_000))
  .refine((styles) => Object.keys(styles).length > 0, { error: "must name a property" })
  .meta({ description: "CSS properties and values.", examples: [{ "background-color": "#0a7" }] });
const target = selector.describe("CSS selector of the element that the position is relative to.");

/** Builds the error message for a discriminated union whose discriminator is not one of `values`. */
export const discriminatorError =
  (...values: string[]) =>
  ({ code }: { code?: string | undefined }): string | undefined =>
    code === "invalid_union"
      ? `must be one of ${values.map((value) => JSON.stringify(value)).join(", ")}`
      : undefined;

/** The operations that a change can have. */
export const OPERATIONS = [
  "setText",
  "setHtml",
  "setAttribute",
  "removeAttribute",
  "addClass",
  "removeClass",
  "setStyle",
  "insert",
  "move",
  "remove",
] as const;

/** Creates the schema of a change. `id` is the schema of the change's id. Source: `architecture.md`, Variants. */
const changeWith = <Id extends z.ZodType>(id: Id) =>
  z.discriminatedUnion(
    "op",
    [
      z.strictObject({ id, ...common, op: z.literal("setText"), text: text(20_000) }),
      z.strictObject({ id, ...common, op: z.literal("setHtml"), html }),
      z.strictObject({
        id,
        ...common,
        op: z.literal("setAttribute"),
        name: attributeName,
        value: text(20_000),
      }),
      z.strictObject({ id, ...common, op: z.literal("removeAttribute"), name: attributeName }),
      z.strictObject({ id, ...common, op: z.literal("addClass"), className }),
      z.strictObject({ id, ...common, op: z.literal("removeClass"), className }),
      z.strictObject({ id, ...common, op: z.literal("setStyle"), style }),
      z.strictObject({ id, ...common, op: z.literal("insert"), position: z.enum(POSITIONS), html }),
      z.strictObject({ id, ...common, op: z.literal("move"), position: z.enum(POSITIONS), target }),
      z.strictObject({ id, ...common, op: z.literal("remove") }),
    ],
    { error: discriminatorError(...OPERATIONS) },
  );

export const changeSchema = changeWith(changeIdSchema).meta({
  id: "VariantChange",
  description: "A change of a page.",
});
export type Change = z.infer<typeof changeSchema>;

/** Schema of a change in the input of a call. The service gives an id to each change that has none. */
export const changeInputSchema = changeWith(changeIdSchema.optional());
export type ChangeInput = z.infer<typeof changeInputSchema>;

const address = text(8_192).meta({ examples: ["https://shop.example/checkout"] });
const match = z.enum(PAGE_MATCHES).meta({
  description:
    "How the address of a page must match `url`; the fragment is never compared. `exact`: the whole address is equal. `path`: origin and path are equal. `prefix`: the address begins with `url`. `glob`: in `url`, `*` matches any characters except `/`, and `**` matches any characters; a query is compared only if `url` contains `?`.",
});
const exclude = z
  .array(z.strictObject({ url: address, match }))
  .max(20, { error: "must have at most 20 addresses" })
  .optional()
  .meta({ description: "Addresses that do not match, although `url` matches them." });
const css = text(100_000).meta({
  description: "Style sheet that is added to the page when its document starts to load.",
});
const js = text(100_000).meta({
  description:
    "Script that runs once in each document of the page, as a function body. If it returns a function, that function is called when the variant stops on the page.",
});

const when = text(1_000)
  .min(1, { error: "must not be empty" })
  .meta({
    description:
      "When the changes of the page are applied: `now` (as soon as their elements exist), `load`, `idle` (the first idle time after the load), or a CSS selector (as soon as an element matches it). By default a change waits until the page is hydrated.",
    examples: ["load"],
  })
  .optional();

const variantPageSchema = z
  .strictObject({ url: address, match, exclude, when, changes: z.array(changeSchema), css, js })
  .meta({ id: "VariantPage", description: "The changes of the pages whose address matches `url`." });
export type VariantPage = z.infer<typeof variantPageSchema>;

/** Schema of an entry in `set`. */
const pageInputSchema = z.strictObject({
  url: address,
  match: match.default("path"),
  exclude,
  when,
  changes: z.array(changeInputSchema).default([]),
  css: css.default(""),
  js: js.default(""),
});
export type PageInput = z.infer<typeof pageInputSchema>;

/** Schema of the input of a call that creates a revision of a variant. */
export const revisionInputSchema = z.strictObject({
  set: z.array(pageInputSchema).max(VARIANT_LIMITS.pagesMax).optional(),
  add: z.array(changeInputSchema).max(VARIANT_LIMITS.changesMax).optional(),
  drop: z.array(changeIdSchema).max(VARIANT_LIMITS.changesMax).optional(),
  css: css.optional(),
  js: js.optional(),
});
export type RevisionInput = z.infer<typeof revisionInputSchema>;

/** Schema of the content of a revision. */
export const variantDocumentSchema = z
  .strictObject({ pages: z.array(variantPageSchema) })
  .meta({ id: "VariantDocument", description: "The content of a revision." });
export type VariantDocument = z.infer<typeof variantDocumentSchema>;
