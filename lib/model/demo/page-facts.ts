import { readHtml } from "./html-reading.ts";
import { type PageElement, readPage } from "./page-reading.ts";
import { addressOf, findOpenUrl } from "./reach-page.ts";
import type { Situation } from "./situation.ts";

/** A product on the page. `price` is the price as the page writes it, and `amount` is the price as a number. */
type Product = { name: string; price: string; amount: number };

/** Facts about the page, collected from the tool results of a session. The lists have names that schemas often use. */
export type PageFacts = {
  url?: string;
  title?: string;
  fields: PageElement[];
  headings: string[];
  links: PageElement[];
  buttons: string[];
  products: Product[];
  forms: PageElement[];
  /** Whether a tool result showed only a part of the page; undefined if no page was read. */
  isPartial?: boolean;
  /** One sentence for free-text properties. It contains the label of the demo model. */
  summary: string;
};

/** Empty facts, without a summary. */
export const NO_FACTS = {
  fields: [],
  headings: [],
  links: [],
  buttons: [],
  products: [],
  forms: [],
} satisfies Partial<PageFacts>;

const PRICE = /(?:[£$€]\s?\d{1,7}(?:[.,]\d{2})?|\b\d{1,7}(?:[.,]\d{2})?\s?(?:€|EUR|USD|GBP)(?!\w))/;

/** Finds the first price in a text and returns it as it is written there. */
export function findPrice(text: string): string | undefined {
  return text.match(PRICE)?.[0];
}

const amountOf = (text: string) =>
  Number(
    text
      .replace(/[^\d.,]/g, "")
      .replace(/,(\d{2})$/, ".$1")
      .replace(/,/g, ""),
  );

/**
 * Finds products with a price. The name of a product is the heading with which its text begins, otherwise the words
 * before the price. Nested elements of the same product count once. If any product has a name, products without a name
 * are left out.
 */
export function findProducts(elements: PageElement[]): Product[] {
  const products: Product[] = [];
  const headings = elements
    .filter(({ role }) => /^(heading|h[1-6])$/.test(role))
    .map(({ name, text }) => name || text);
  for (const element of elements) {
    const text = (element.text || element.name).slice(0, 500);
    const found = findPrice(text);
    if (found === undefined) continue;
    const own =
      element.name !== text && findPrice(element.name) === undefined ? element.name.slice(0, 500) : "";
    const before = (own || text.slice(0, text.indexOf(found))).replace(/[\s:–—-]+$/, "").trim();
    const heading = headings.find((candidate) => candidate !== "" && before.startsWith(candidate));
    const name = (heading ?? before).slice(0, 80);
    const isDuplicate = products.some(
      (product) => product.price === found && (name === "" || product.name === name),
    );
    if (!isDuplicate) products.push({ name, price: found, amount: amountOf(found) });
  }
  const named = products.filter((product) => product.name !== "");
  return named.length > 0 ? named : products;
}

const fieldRoles =
  /^(textbox|searchbox|combobox|listbox|spinbutton|checkbox|radio|switch|slider|input|select|textarea)$/;

/**
 * Collects the facts from all successful tool results. Elements come only from the page that was open last. Results of
 * earlier turns count only if the page that they show is still open.
 */
export function collectFacts(situation: Situation): PageFacts {
  const facts: PageFacts = { ...NO_FACTS, summary: "" };
  const seen: PageElement[] = [];
  const { currentUrl } = situation;
  const shownUrl = findOpenUrl(situation.earlier);
  const isStillOpen =
    shownUrl === undefined || currentUrl === undefined || addressOf(shownUrl) === addressOf(currentUrl);
  if (!isStillOpen) facts.url = currentUrl;
  for (const { toolName, input, result } of [
    ...(isStillOpen ? situation.earlier : []),
    ...situation.exchanges,
  ]) {
    if (result === undefined || result.isError) continue;
    const isFetch = toolName === "fetch_url";
    if (!isFetch && toolName !== "dom_query" && toolName !== "browser_execute") continue;
    const reading = isFetch ? readHtml(result.text, String(input.url ?? "")) : readPage(result.text);
    if (reading.url !== undefined && reading.url !== facts.url) {
      seen.length = 0;
      facts.isPartial = false;
    }
    if (reading.isCut) facts.isPartial = true;
    if (reading.url !== undefined) facts.url = reading.url;
    if (reading.title !== undefined) facts.title = reading.title;
    seen.push(...reading.elements);
  }
  const unique = [...new Map(seen.map((element) => [JSON.stringify(element), element])).values()];
  const names = (role: RegExp) =>
    unique.filter((element) => role.test(element.role)).map((element) => element.name || element.text);
  facts.fields = unique.filter(({ role }) => fieldRoles.test(role));
  facts.headings = names(/^(heading|h[1-6])$/);
  facts.links = unique.filter(({ role }) => /^(link|a)$/.test(role));
  facts.buttons = names(/^button$/);
  facts.products = findProducts(unique);
  facts.forms = unique.filter(({ role }) => role === "form");
  facts.summary = summarize(facts);
  return facts;
}

function summarize(facts: PageFacts): string {
  const counts = [
    `${facts.fields.length} form fields`,
    `${facts.headings.length} headings`,
    `${facts.links.length} links`,
  ].join(", ");
  const subject = facts.title ?? facts.url;
  const seen = subject === undefined ? "No page was read." : `${subject}: ${counts} read.`;
  return `${seen} (Built-in demo model, rule-based.)`;
}
