/**
 * Pages with the structure and the scripts of real sites: a list of a shop, an article, a table of prices, a dashboard,
 * a form and a menu.
 */
const page = (title: string, style: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><meta name="viewport" content="width=device-width, initial-scale=1"><style>*{box-sizing:border-box}body{margin:0;font:16px/1.5 sans-serif;color:#1a1a1a;background:#fff}a{color:#0b57d0}button,.button{min-height:40px;padding:8px 16px;border:1px solid #0b57d0;border-radius:6px;background:#0b57d0;color:#fff;font:inherit}input,select,textarea{font:inherit;min-height:40px;max-width:100%}header,main,footer{padding:16px}.card{border:1px solid #d0d0d0;border-radius:8px;padding:16px}${style}</style></head><body>${body}</body></html>`;

const HEADER =
  '<header class="site"><a class="logo" href="/about">Northwind</a> <nav aria-label="Main"><a href="/shop">Shop</a> <a href="/pricing">Pricing</a> <a href="/article">Journal</a></nav></header>';
const FOOTER =
  '<footer><p>Northwind Ltd., 12 Harbour Street</p><p><a href="/about">About</a> <a href="/cart">Cart</a></p></footer>';

const PRODUCTS = ["Kettle", "Teapot", "Cup", "Saucer", "Spoon", "Tray"];

export const SHOP = page(
  "Shop",
  ".products{display:grid;grid-template-columns:repeat(auto-fill,minmax(220px,1fr));gap:16px;padding:0;list-style:none}.bar{position:sticky;top:0;background:#fff;padding:8px 0}.price{font-weight:700}.card .name{white-space:nowrap;overflow:hidden;width:180px}",
  `${HEADER}<main><h1>Tea things</h1><p class="lead">Made by hand, delivered within a week.</p>
  <div class="bar"><label>Sort by <select id="sort"><option>Name</option><option>Price</option></select></label> <span id="cart" role="status">0 in the cart</span></div>
  <ul class="products">${PRODUCTS.map((name, at) => `<li class="card" data-id="${at}"><svg viewBox="0 0 40 20" width="100%" height="80" aria-hidden="true"><rect width="40" height="20" fill="#dde"/></svg><h2 class="name">${name}</h2><p class="price">${at + 4}.00 €</p><button type="button" class="add">Add ${name}</button></li>`).join("")}</ul></main>${FOOTER}
  <script>
    let count = 0;
    for (const button of document.querySelectorAll(".add")) button.addEventListener("click", () => { count += 1; cart.textContent = count + " in the cart"; });
    sort.addEventListener("change", () => {
      const list = document.querySelector(".products");
      const key = (item) => sort.value === "Name" ? item.querySelector(".name").textContent : item.querySelector(".price").textContent.padStart(9, "0");
      list.append(...[...list.children].sort((one, other) => key(one).localeCompare(key(other))));
    });
  </script>`,
);

export const ARTICLE = page(
  "Journal",
  "main{max-width:680px;margin:auto}blockquote{border-left:4px solid #888;margin:16px 0;padding:0 16px}figure{margin:0}.toc a{display:inline-block;padding:4px 0}",
  `${HEADER}<main><article><h1>How a kettle is made</h1><p class="byline">By <a href="/about">Ada North</a>, <time datetime="2026-03-01">1 March</time></p>
  <ul class="toc"><li><a href="#copper">Copper</a></li><li><a href="#spout">The spout</a></li></ul>
  <p class="intro">Every kettle begins as a sheet of copper, cut to a circle and pressed over a wooden form.</p>
  <figure><svg viewBox="0 0 60 20" width="100%" height="180" role="img" aria-label="A sheet of copper"><rect width="60" height="20" fill="#c84"/></svg><figcaption>The sheet before the press.</figcaption></figure>
  <h2 id="copper">Copper</h2><p>Copper conducts heat well. ${"It is soft enough to be shaped by hand, and hard enough to last. ".repeat(4)}</p>
  <blockquote><p>A good kettle pours without a drop.</p></blockquote>
  <h2 id="spout">The spout</h2><p>${"The spout is soldered last. ".repeat(8)}</p></article>
  <aside><h2>Read next</h2><p><a href="/pricing">What it costs</a></p></aside></main>${FOOTER}`,
);

export const PRICING = page(
  "Pricing",
  ".plans{display:flex;flex-wrap:wrap;gap:16px}.plans .card{flex:1 1 240px}table{border-collapse:collapse;width:100%}td,th{padding:8px;border-bottom:1px solid #d0d0d0;text-align:left}.wrap{overflow-x:auto}",
  `${HEADER}<main><h1>Plans</h1><p><label><input type="checkbox" id="yearly"> Pay yearly</label></p>
  <div class="plans">${["Solo", "Team", "Firm"].map((name, at) => `<section class="card plan" id="plan-${name.toLowerCase()}"><h2>${name}</h2><p class="amount"><b>${(at + 1) * 10}</b> € a month</p><p><a class="button" href="/checkout">Choose ${name}</a></p></section>`).join("")}</div>
  <h2>Compare</h2><div class="wrap" tabindex="0" role="region" aria-label="Comparison"><table><thead><tr><th scope="col">Part</th><th scope="col">Solo</th><th scope="col">Team</th></tr></thead><tbody><tr><th scope="row">Seats</th><td>1</td><td>10</td></tr><tr><th scope="row">Support</th><td>Mail</td><td>Phone</td></tr></tbody></table></div>
  <h2>Questions</h2><details><summary>Can I leave?</summary><p>Yes, at any time.</p></details><p><a href="/pricing-help">Help with prices</a></p></main>${FOOTER}
  <script>
    yearly.addEventListener("change", () => { document.querySelectorAll(".amount b").forEach((amount, at) => { amount.textContent = (at + 1) * (yearly.checked ? 8 : 10); }); });
  </script>`,
);

export const DASHBOARD = page(
  "Dashboard",
  ".layout{display:flex;flex-wrap:wrap;gap:16px}.side{flex:0 0 180px}.content{flex:1 1 300px;min-width:0}[role=tabpanel]{padding:16px 0}[role=tab]{background:#fff;color:#0b57d0}[role=tab][aria-selected=true]{background:#0b57d0;color:#fff}table{border-collapse:collapse;width:100%}td,th{padding:8px;text-align:left}",
  `<header><a href="/about">Northwind</a> <span id="clock">0</span></header><main><h1>Orders</h1><div class="layout"><nav class="side" aria-label="Sections"><a href="/dashboard">Orders</a></nav><div class="content">
  <div role="tablist" aria-label="Orders"><button role="tab" id="tab-open" aria-selected="true" aria-controls="panel-open">Open</button><button role="tab" id="tab-done" aria-selected="false" aria-controls="panel-done" tabindex="-1">Done</button></div>
  <div role="tabpanel" id="panel-open" aria-labelledby="tab-open" tabindex="0"><p class="hint">Orders that wait for you.</p><table><thead><tr><th scope="col">Order</th><th scope="col">Total</th></tr></thead><tbody id="rows"><tr><td>A-1</td><td>12 €</td></tr><tr><td>A-2</td><td>30 €</td></tr></tbody></table><p><button type="button" id="more">Load more</button></p></div>
  <div role="tabpanel" id="panel-done" aria-labelledby="tab-done" tabindex="0" hidden><p>Nothing yet.</p></div></div></div></main>${FOOTER}
  <script>
    const tabs = [...document.querySelectorAll("[role=tab]")];
    const choose = (tab) => tabs.forEach((each) => { each.setAttribute("aria-selected", each === tab); each.tabIndex = each === tab ? 0 : -1; document.getElementById(each.getAttribute("aria-controls")).hidden = each !== tab; });
    tabs.forEach((tab) => tab.addEventListener("click", () => choose(tab)));
    let next = 3;
    more.addEventListener("click", () => { rows.insertAdjacentHTML("beforeend", "<tr><td>A-" + next + "</td><td>" + next++ + " €</td></tr>"); });
    setInterval(() => { clock.textContent = new Date().toLocaleTimeString(); }, 1000);
  </script>`,
);

export const CHECKOUT = page(
  "Checkout",
  "form{display:grid;gap:12px;max-width:420px}.error{color:#a00}",
  `${HEADER}<main><h1>Checkout</h1><form id="order" action="/api/order" method="post" novalidate><div class="field"><label for="mail">Email</label> <input id="mail" name="mail" type="email" autocomplete="email" required></div><div class="field"><label for="city">City</label> <input id="city" name="city" autocomplete="address-level2"></div><p class="error" id="error" role="alert"></p><p class="total">Total <b>24 €</b></p><button id="pay">Pay now</button></form><p id="done" role="status"></p></main>${FOOTER}
  <script>
    order.addEventListener("submit", async (event) => {
      event.preventDefault();
      error.textContent = mail.value.includes("@") ? "" : "Enter your email.";
      if (error.textContent) return;
      const response = await fetch("/api/order", { method: "POST", body: new URLSearchParams({ mail: mail.value }) });
      done.textContent = response.ok ? "Thank you." : "It did not work.";
    });
    mail.addEventListener("input", () => { error.textContent = ""; });
  </script>`,
);

export const MENU = page(
  "Studio",
  ".bar{display:flex;gap:16px;align-items:center}.menu{position:relative}.menu ul{position:absolute;top:100%;left:0;margin:0;padding:8px;list-style:none;background:#fff;border:1px solid #d0d0d0;min-width:160px}.hero{position:relative;z-index:1;padding:48px 16px;background:#eef}header.bar{position:relative;z-index:2}",
  `<header class="bar"><a href="/menu">Studio</a><nav class="menu" aria-label="Main"><button type="button" id="open" aria-expanded="false" aria-controls="entries">Menu</button><ul id="entries" hidden><li><a href="/menu/team">Team</a></li><li><a href="/menu/work">Work</a></li></ul></nav><a href="/menu/team" class="direct">Our team</a></header>
  <section class="hero" aria-label="Welcome"><h1>We draw kettles</h1><p class="lead">A studio by the sea.</p><p><a class="button" href="/checkout">Order</a></p></section><main><div id="route"></div></main>${FOOTER}
  <script>
    const open = document.querySelector("#open"), entries = document.querySelector("#entries"), route = document.querySelector("#route");
    const toggle = (isOpen) => { entries.hidden = !isOpen; open.setAttribute("aria-expanded", isOpen); };
    open.addEventListener("click", () => toggle(entries.hidden));
    const TEXTS = { "/menu": "Start", "/menu/team": "Six people", "/menu/work": "Forty kettles" };
    const show = () => { route.innerHTML = "<h2>" + (TEXTS[location.pathname] ?? "Start") + "</h2><p>Text of this part.</p>"; toggle(false); };
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='/menu']");
      if (!link) return;
      event.preventDefault();
      history.pushState(null, "", link.getAttribute("href"));
      show();
    });
    addEventListener("popstate", show);
    show();
  </script>`,
);
