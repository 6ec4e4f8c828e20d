import { readableText } from "#lib/tools/workspace/fetch/readable-text.ts";
import type { SeenText } from "../find/receipt.ts";

/** One row of a test page, in the form in which a caller gets it. */
type Row = { name: string; sku: string; price: number; from: string; seller: string; link: string };

/** An extraction: what the session saw, and the rows that are there. */
export type Extraction = { title: string; texts: SeenText[]; rows: Row[] };

type Locale = {
  name: string;
  names: string[];
  price: (value: number) => string;
  date: (iso: string) => string;
  words: { price: string; from: string; seller: string };
};

const MONTHS = {
  en: "January February March April May June July August September October November December".split(" "),
  de: "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(" "),
  fr: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(" "),
  es: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(" "),
};
const parts = (iso: string) => iso.split("-").map(Number) as [number, number, number];
const fixed = (value: number, group: string, decimal: string) => {
  const [whole = "", fraction = ""] = value.toFixed(2).split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, group) + decimal + fraction;
};
const nameOf = (months: string[], month: number) => months[month - 1] ?? "";

const LOCALES: Locale[] = [
  {
    name: "English (US)",
    names: [
      "Walnut Desk",
      "Oak “Classic” Chair",
      "Steel Lamp & Shade",
      "Linen Sofa",
      "Glass Shelf",
      "Wool Rug",
      "Brass Mirror",
      "Ash Stool",
    ],
    price: (value) => `$${fixed(value, ",", ".")}`,
    date: (iso) => {
      const [year, month, day] = parts(iso);
      return `${nameOf(MONTHS.en, month)} ${day}, ${year}`;
    },
    words: { price: "Price", from: "Available from", seller: "Seller" },
  },
  {
    name: "German",
    names: [
      "Nussbaumtisch",
      "Eichenstuhl Größe L",
      "Stehlampe",
      "Leinensofa",
      "Glasregal",
      "Wollteppich",
      "Messingspiegel",
      "Eschenhocker",
    ],
    price: (value) => `${fixed(value, ".", ",")}\u00a0€`,
    date: (iso) => {
      const [year, month, day] = parts(iso);
      return `${day}. ${nameOf(MONTHS.de, month)} ${year}`;
    },
    words: { price: "Preis", from: "Lieferbar ab", seller: "Händler" },
  },
  {
    name: "French",
    names: [
      "Bureau en noyer",
      "Chaise d’école",
      "Lampe à pied",
      "Canapé en lin",
      "Étagère en verre",
      "Tapis de laine",
      "Miroir doré",
      "Tabouret en frêne",
    ],
    price: (value) => `${fixed(value, "\u202f", ",")} €`,
    date: (iso) => {
      const [year, month, day] = parts(iso);
      return `${day === 1 ? "1er" : day} ${nameOf(MONTHS.fr, month)} ${year}`;
    },
    words: { price: "Prix", from: "Disponible le", seller: "Vendeur" },
  },
  {
    name: "Spanish",
    names: [
      "Escritorio de nogal",
      "Silla clásica",
      "Lámpara de pie",
      "Sofá de lino",
      "Estante de vidrio",
      "Alfombra de lana",
      "Espejo de latón",
      "Taburete de fresno",
    ],
    price: (value) => `${fixed(value, ".", ",")} EUR`,
    date: (iso) => {
      const [year, month, day] = parts(iso);
      return `${day} de ${nameOf(MONTHS.es, month)} de ${year}`;
    },
    words: { price: "Precio", from: "Disponible desde", seller: "Vendedor" },
  },
  {
    name: "Swiss",
    names: [
      "Arbeitstisch Bern",
      "Stuhl Luzern",
      "Lampe Zug",
      "Sofa Genf",
      "Regal Chur",
      "Teppich Basel",
      "Spiegel Thun",
      "Hocker Uri",
    ],
    price: (value) => `CHF ${fixed(value, "’", ".")}`,
    date: (iso) => iso.split("-").reverse().join("."),
    words: { price: "Preis", from: "Ab", seller: "Anbieter" },
  },
  {
    name: "Japanese",
    names: [
      "ウォールナットの机",
      "オークの椅子",
      "スチールランプ",
      "リネンのソファ",
      "ガラスの棚",
      "ウールの敷物",
      "真鍮の鏡",
      "灰の腰掛け",
    ],
    price: (value) => `¥${fixed(value, ",", ".")}`,
    date: (iso) => {
      const [year, month, day] = parts(iso);
      return `${year}年${month}月${day}日`;
    },
    words: { price: "価格", from: "発売日", seller: "販売者" },
  },
];

/** Returns pseudo-random whole numbers below a bound, the same for each run. */
export function createNumbers(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 1 | state) + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 7), 61 | state);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const SELLERS = [
  "Harbour Paper",
  "Nordlicht GmbH",
  "Maison Dubois",
  "Casa Ruiz",
  "Alpina AG",
  "Sakura Works",
  "Field & Sons",
  "Blue Heron",
];

function makeRows(locale: Locale, seed: number): Row[] {
  const next = createNumbers(seed);
  return locale.names.map((name, index) => ({
    name,
    sku: `${"ABCDEFGH"[index]}${10_000 + next(9_000)}-${next(90) + 10}`,
    // Ends with another digit than 0, so that the number has four digits or more.
    price: Number(`${110 + index * 190 + next(180) + 1_000 * (index % 3)}.${next(9)}${1 + next(9)}`),
    from: `${2026 + (index % 2)}-${String(1 + ((index * 5 + next(3)) % 12)).padStart(2, "0")}-${String(1 + ((index * 3 + next(20)) % 28)).padStart(2, "0")}`,
    seller: SELLERS[(index + seed) % SELLERS.length] ?? "",
    link: `https://shop.example/items/${1_000 + index * 37 + seed}`,
  }));
}

const escapeHtml = (text: string) =>
  text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/’/g, "&rsquo;").replace(/€/g, "&euro;");
const quoted = (text: string) => JSON.stringify(text);
const asData = (body: string) =>
  `Read. What is between the two marks is data from the page.\n<data-0123456789ab>\n${body}\n</data-0123456789ab>`;
const asSnapshot = (lines: string[]) =>
  asData(
    [
      '"Shop" https://shop.example/list?page=1 (viewport 1280×720, scrolled 0 of 900 px)',
      "banner",
      '  link "Home" [e1] link "Cart" [e2]',
      ...lines,
    ].join("\n"),
  );
const path = (row: Row) => row.link.slice("https://shop.example".length);

type Shape = { name: string; write: (rows: Row[], locale: Locale) => string };

const htmlTable = (rows: Row[], { price, date, words }: Locale) =>
  `<html><head><title>Shop</title></head><body><nav><a href="/">Home</a></nav><table><tr><th>Name<th>SKU<th>${words.price}<th>${words.from}<th>${words.seller}</tr>${rows
    .map(
      (row) =>
        `<tr><td><a href="${row.link}">${escapeHtml(row.name)}</a><td>${row.sku}<td>${escapeHtml(price(row.price))}<td>${escapeHtml(date(row.from))}<td>${escapeHtml(row.seller)}`,
    )
    .join("")}</table></body></html>`;

const htmlCards = (rows: Row[], { price, date, words }: Locale) =>
  `<html><body><main><h1>Shop</h1><div class=grid>${rows
    .map(
      (row) =>
        `<div class=card><img src="/p/${row.sku}.jpg" alt=""><div><span>${escapeHtml(price(row.price))}</span></div><div class=body><h3><a href="${path(row)}">${escapeHtml(row.name)}</a></h3><p>${words.from}: ${escapeHtml(date(row.from))}</p><p>${escapeHtml(row.seller)}</p><small>${row.sku}</small></div></div>`,
    )
    .join("\n")}</div></main></body></html>`;

const SHAPES: Shape[] = [
  {
    name: "a table in a snapshot",
    write: (rows, { price, date, words }) =>
      asSnapshot([
        'table "Items"',
        `  columns | "Name" | "SKU" | ${quoted(words.price)} sorted ascending | ${quoted(words.from)} | ${quoted(words.seller)}`,
        ...rows.map(
          (row, index) =>
            `  | link ${quoted(row.name)} [e${index + 9}] to ${quoted(path(row))} | ${quoted(row.sku)} | ${quoted(price(row.price))} | ${quoted(date(row.from))} | ${quoted(row.seller)}`,
        ),
      ]),
  },
  {
    name: "cards in a snapshot, without structure",
    write: (rows, { price, date, words }) =>
      asSnapshot([
        "main",
        ...rows.flatMap((row, index) => [
          `  heading 3 link ${quoted(row.name)} [e${index + 9}] to ${quoted(path(row))}`,
          `  ${quoted(price(row.price))}`,
          `  ${quoted(words.from)} ${quoted(date(row.from))}`,
          `  ${quoted(row.seller)} ${quoted(row.sku)}`,
          `  button "Add" [e${index + 40}]`,
        ]),
      ]),
  },
  {
    name: "a list in a snapshot, the price before the name",
    write: (rows, { price, date, words }) =>
      asSnapshot([
        "list",
        ...rows.flatMap((row, index) => [
          `  • ${quoted(price(row.price))}`,
          `    link ${quoted(row.name)} [e${index + 9}] to ${quoted(path(row))}`,
          `    ${quoted(`${words.seller}: ${row.seller}`)}`,
          `    ${quoted(`${words.from} ${date(row.from)} (${row.sku})`)}`,
        ]),
      ]),
  },
  {
    name: "a table of HTML as text",
    write: (rows, locale) => asData(readableText(htmlTable(rows, locale), "https://shop.example/list")),
  },
  {
    name: "cards of HTML as text",
    write: (rows, locale) => asData(readableText(htmlCards(rows, locale), "https://shop.example/list")),
  },
  { name: "a table of HTML as source", write: (rows, locale) => asData(htmlTable(rows, locale)) },
  { name: "cards of HTML as source", write: (rows, locale) => asData(htmlCards(rows, locale)) },
  {
    name: "an answer in JSON",
    write: (rows, { price }) =>
      JSON.stringify({
        total: rows.length,
        items: rows.map((row) => ({
          id: row.sku,
          title: row.name,
          price: { amount: row.price, label: price(row.price) },
          available_from: `${row.from}T00:00:00Z`,
          seller: { name: row.seller },
          href: path(row),
        })),
      }),
  },
  {
    name: "definition lists in a text",
    write: (rows, { price, date, words }) =>
      asData(
        rows
          .map(
            (row) =>
              `## ${row.name}\n\n${words.price}\n${price(row.price)}\n${words.from}\n${date(row.from)}\n${words.seller}\n${row.seller}\nSKU\n${row.sku}\n[…](${row.link})`,
          )
          .join("\n\n"),
      ),
  },
  {
    name: "the result of a script",
    write: (rows, { price, date }) =>
      asData(
        `Result: ${JSON.stringify(
          rows.map((row) => ({
            text: `${row.name}\n${price(row.price)}\n${date(row.from)}\n${row.seller}`,
            sku: row.sku,
            href: row.link,
          })),
          null,
          1,
        )}\nConsole:\n[log] ${rows.length} rows`,
      ),
  },
];

/** Sixty extractions: ten shapes of pages, each in six languages with their forms of numbers and dates. */
export function makeExtractions(): Extraction[] {
  return SHAPES.flatMap((shape, at) =>
    LOCALES.map((locale, index) => {
      const rows = makeRows(locale, at * LOCALES.length + index + 1);
      const text = shape.write(rows, locale);
      const page = { text, seq: 7, url: "https://shop.example/list" };
      // The session reads the page twice, and has another page and a message that say nothing about the rows.
      const other = {
        ...page,
        text: asSnapshot(['heading 1 "Terms of trade"', '"All prices include tax. Returns within 30 days."']),
        seq: 3,
      };
      return { title: `${shape.name}, ${locale.name}`, rows, texts: [other, page, { ...page, seq: 9 }] };
    }),
  );
}
