const count = { type: "integer", minimum: 0 };
const text = (maxLength: number) => ({ type: "string", maxLength });

/**
 * The JSON Schema of a sub-agent's report on its page. The limits keep the results of all pages together below 12,000
 * characters, because the service cuts a longer tool result.
 */
export const PAGE_RESULT_SCHEMA = {
  type: "object",
  properties: {
    url: text(300),
    title: text(150),
    headingCount: count,
    headings: { type: "array", maxItems: 8, items: text(80) },
    linkCount: count,
    formCount: count,
    fieldCount: count,
    productCount: count,
    products: {
      type: "array",
      maxItems: 8,
      items: {
        type: "object",
        properties: { name: text(60), price: text(20) },
        required: ["name", "price"],
      },
    },
    isPartial: { type: "boolean", description: "Whether only a part of the page was read." },
  },
  required: ["headingCount", "headings", "linkCount", "formCount", "fieldCount", "productCount", "products"],
};

/** A sub-agent's report on its page. A missing text or count is undefined; a missing list is empty. */
export type PageResult = {
  url: string | undefined;
  title: string | undefined;
  headingCount: number | undefined;
  headings: string[];
  linkCount: number | undefined;
  formCount: number | undefined;
  fieldCount: number | undefined;
  productCount: number | undefined;
  products: { name: string; price: string }[];
  isPartial: boolean;
};

/** Reads a sub-agent's result; undefined if it is not an object. */
export function readPageResult(value: unknown): PageResult | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fields = value as Record<string, unknown>;
  const textOf = (name: string) => (typeof fields[name] === "string" ? fields[name] : undefined);
  const numberOf = (name: string) => (typeof fields[name] === "number" ? fields[name] : undefined);
  const listOf = (name: string): unknown[] => (Array.isArray(fields[name]) ? fields[name] : []);
  return {
    url: textOf("url"),
    title: textOf("title"),
    headingCount: numberOf("headingCount"),
    headings: listOf("headings").filter((heading) => typeof heading === "string"),
    linkCount: numberOf("linkCount"),
    formCount: numberOf("formCount"),
    fieldCount: numberOf("fieldCount"),
    productCount: numberOf("productCount"),
    products: listOf("products").flatMap((product) => {
      const { name, price } = (product ?? {}) as Record<string, unknown>;
      return typeof name === "string" && typeof price === "string" ? [{ name, price }] : [];
    }),
    isPartial: fields.isPartial === true,
  };
}
