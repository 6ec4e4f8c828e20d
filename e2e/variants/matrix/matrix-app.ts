/**
 * An app of the matrix: the same shop, made with one framework from npm. The shop has the elements of
 * {@link renderShop}. `#again` renders the next state of {@link SHOP_STATES}, `.late` appears when the client code runs,
 * `#form` shows the name in `#thanks`, and `#leave` leads to a page `/other` with an `h1`. All of them work the way
 * the framework does it.
 */
export type MatrixApp = {
  /** The name of the app's row in the table. */
  name: string;
  /** What kind of build the row tests, in a few words. */
  build: string;
  /** Names the packages from npm whose versions appear in the table. */
  shown: string[];
  /** The packages from npm, with exact versions. None of them is a dependency of the product. */
  packages: Record<string, string>;
  /** The files of the app by their paths in its folder. */
  files: Record<string, string>;
  /** The arguments of Node.js that build the app in its folder, one list for each command. */
  commands?: string[][];
  start: (folder: string) => Promise<RunningApp>;
};

/** A running app. `origin` serves it, without the script of a variant. */
export type RunningApp = { origin: string; close: () => Promise<void> };

export type ShopItem = "apple" | "pear" | "plum" | "cherry";

/** The items of the shop in its two states. The second state has another order, one new and one missing item. */
export const SHOP_STATES: ShopItem[][] = [
  ["apple", "pear", "plum"],
  ["cherry", "plum", "apple"],
];

/** The source of a function `itemsOf(count)`, for apps that cannot import this file. */
export const ITEMS_SOURCE = `const itemsOf = (count) => ${JSON.stringify(SHOP_STATES)}[count === 2 ? 1 : 0];`;

/** How an app renders the parts of the shop that depend on the framework. The values are attributes or HTML. */
export type ShopParts = { again?: string; form?: string; leave?: string; late?: string; thanks?: string };

/** Renders the shop as HTML, for apps whose server renders it without a framework. */
export function renderShop(count: number, parts: ShopParts = {}): string {
  const items = (SHOP_STATES[count === 2 ? 1 : 0] ?? [])
    .map((item) => `<li class="item" data-id="${item}"><span>${item}</span> <i>${count}</i></li>`)
    .join("");
  return `<main class="shop shop-${count}"><h1>Checkout</h1>
<p id="greeting" class="muted" style="color: red">Hello <b>you</b>, ${count} times</p>
<div class="actions"><button id="again" type="button" ${parts.again ?? ""}>Pay ${count}</button><button id="more" type="button">More</button></div>
<ul id="list">${items}</ul>
<section class="summary"><h2>Total</h2><p>Total ${count}</p></section>
<p id="status" class="status status-${count}">Count ${count}</p>
${parts.late ?? ""}
<form id="form" ${parts.form ?? ""}><input name="name"><button id="send">Send</button></form>
<p id="thanks">${parts.thanks ?? ""}</p>
<a id="leave" href="/other" ${parts.leave ?? ""}>Other</a></main>`;
}
