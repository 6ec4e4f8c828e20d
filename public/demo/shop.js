// The key in the browser's storage under which the shop stores the cart, as a list of `CartLine`.
const cartKey = "harbour-paper-cart";
const pounds = (/** @type {number} */ amount) => `£${amount.toFixed(2)}`;

/** @typedef {{ id: string, name: string, price: number, count: number }} CartLine */

/**
 * Whether the page shows the shop as a visitor sees it, with the variant that is published for the shop. The script of
 * the variant is not trusted, because an agent wrote it. Therefore, the page loads the script only if the server has
 * put the page in a sandbox, where `window.origin` is "null".
 */
const isVisit = new URLSearchParams(location.search).has("visitor") && window.origin === "null";

/** @returns {CartLine[]} */
function readCart() {
  try {
    const stored = JSON.parse((isVisit ? window.name : localStorage.getItem(cartKey)) || "[]");
    return Array.isArray(stored) ? stored.filter((line) => typeof line?.count === "number") : [];
  } catch {
    return [];
  }
}

/** @param {CartLine[]} cart */
function saveCart(cart) {
  const text = JSON.stringify(cart);
  // A page in the sandbox has no storage. It keeps the cart in the name of the tab, because the name stays when the
  // visitor opens another page.
  if (isVisit) window.name = text;
  else localStorage.setItem(cartKey, text);
  showCart();
}

function showCart() {
  const cart = readCart();
  const count = cart.reduce((sum, line) => sum + line.count, 0);
  const goods = cart.reduce((sum, line) => sum + line.count * line.price, 0);
  for (const place of document.querySelectorAll("[data-cart-count]")) place.textContent = String(count);
  for (const list of document.querySelectorAll("[data-cart-lines]")) {
    list.replaceChildren(...cart.map((line) => cartRow(line, list.hasAttribute("data-editable"))));
  }
  for (const part of document.querySelectorAll("[data-when-empty]"))
    part.toggleAttribute("hidden", count > 0);
  for (const part of document.querySelectorAll("[data-when-full]"))
    part.toggleAttribute("hidden", count === 0);
  const chosen = document.querySelector("input[name=shipping]:checked");
  const shipping = chosen instanceof HTMLInputElement ? Number(chosen.dataset.price) : 0;
  for (const place of document.querySelectorAll("[data-goods]")) place.textContent = pounds(goods);
  for (const place of document.querySelectorAll("[data-shipping]"))
    place.textContent = shipping === 0 ? "free" : pounds(shipping);
  for (const place of document.querySelectorAll("[data-total]")) place.textContent = pounds(goods + shipping);
}

/**
 * @param {CartLine} line
 * @param {boolean} isEditable
 */
function cartRow(line, isEditable) {
  const row = document.createElement("li");
  const name = document.createElement("span");
  name.className = "cart-name";
  name.textContent = `${line.count} × ${line.name}`;
  const price = document.createElement("span");
  price.className = "price";
  price.textContent = pounds(line.count * line.price);
  row.append(name, price);
  if (isEditable) {
    const remove = document.createElement("button");
    remove.type = "button";
    remove.className = "remove";
    remove.textContent = "Remove";
    remove.setAttribute("aria-label", `Remove ${line.name}`);
    remove.addEventListener("click", () => saveCart(readCart().filter(({ id }) => id !== line.id)));
    row.append(remove);
  }
  return row;
}

for (const form of document.querySelectorAll("form[data-product]")) {
  if (!(form instanceof HTMLFormElement)) continue;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { product: id = "", name = "", price } = form.dataset;
    const count = Math.max(1, Number(new FormData(form).get("quantity")) || 1);
    const cart = readCart();
    const known = cart.find((line) => line.id === id);
    if (known) known.count += count;
    else cart.push({ id, name, price: Number(price), count });
    saveCart(cart);
    const status = document.querySelector(".status");
    if (status) status.textContent = `${name} is in your cart.`;
  });
}

if (isVisit) {
  const script = document.createElement("script");
  script.src = "/v/demo.js";
  document.head.append(script);
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link?.pathname.startsWith("/demo/")) link.search = "?visitor";
  });
}

const checkout = document.querySelector("form.checkout");
if (checkout instanceof HTMLFormElement) {
  checkout.noValidate = true;
  checkout.addEventListener("change", showCart);
  checkout.addEventListener("submit", (event) => {
    event.preventDefault();
    /** @type {HTMLElement | undefined} */
    let firstWrong;
    for (const field of checkout.querySelectorAll("input, select, textarea")) {
      if (
        !(
          field instanceof HTMLInputElement ||
          field instanceof HTMLSelectElement ||
          field instanceof HTMLTextAreaElement
        )
      )
        continue;
      const isWrong = !field.checkValidity();
      field.setAttribute("aria-invalid", String(isWrong));
      const error = document.getElementById(`${field.id}-error`);
      if (error) error.textContent = isWrong ? field.validationMessage : "";
      if (isWrong) firstWrong ??= field;
    }
    if (firstWrong) firstWrong.focus();
    else {
      saveCart([]);
      location.assign(`/demo/thanks.html${isVisit ? "?visitor" : ""}`);
    }
  });
}

showCart();
