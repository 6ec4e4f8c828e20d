import { reported, says, type Task } from "../task.ts";

const PRODUCTS = Array.from({ length: 30 }, (_, index) => ({
  name: `Lamp ${index + 1}`,
  price: 20 + ((index * 37) % 91),
}));

const row = (cells: (string | number)[]) => `<tr>${cells.map((cell) => `<td>${cell}`).join("")}`;

export const readingTasks: Task[] = [
  {
    id: "headings",
    ask: "Which headings does this page have?",
    page: "<h1>Bicycles</h1><h2>Repair</h2><p>Bring it in.</p><h2>Rental</h2><p>By the day.</p>",
    isSolved: says(/Bicycles[\s\S]*Repair[\s\S]*Rental/),
    solve: [],
    answer: "Bicycles, Repair, Rental",
  },
  {
    id: "form-fields",
    ask: "Which fields does the form on this page have?",
    page: "<h1>Booking</h1><form><label>Arrival <input type=date></label><label>Guests <input type=number></label><label>Room <select><option>Single</select></label></form>",
    isSolved: says(/Arrival[\s\S]*Guests[\s\S]*Room/),
    solve: [],
    answer: "Arrival, Guests, Room",
  },
  {
    id: "table-extract",
    ask: "Extract the team.",
    page: `<h1>Team</h1><table><tr><th>Name<th>Role<th>Since${row(["Ada", "Engineer", 2019])}${row(["Grace", "Admiral", 2021])}${row(["Edsger", "Critic", 2015])}</table>`,
    schema: {
      type: "object",
      properties: {
        people: {
          type: "array",
          items: {
            type: "object",
            properties: { name: { type: "string" }, role: { type: "string" }, since: { type: "integer" } },
            required: ["name", "role", "since"],
          },
        },
      },
      required: ["people"],
    },
    isSolved: ({ value }) =>
      JSON.stringify(
        (value as { people: { name: string; role: string; since: number }[] } | null)?.people.map(
          ({ name, role, since }) => [name, role, since],
        ),
      ) ===
      JSON.stringify([
        ["Ada", "Engineer", 2019],
        ["Grace", "Admiral", 2021],
        ["Edsger", "Critic", 2015],
      ]),
    solve: [{ name: "dom_query", arguments: {} }],
    value: {
      people: [
        { name: "Ada", role: "Engineer", since: 2019 },
        { name: "Grace", role: "Admiral", since: 2021 },
        { name: "Edsger", role: "Critic", since: 2015 },
      ],
    },
  },
  {
    id: "product-details",
    ask: "Extract the product, with its price as a number and its availability.",
    page: `<nav><a href=#>Home</a> › <a href=#>Chairs</a></nav><article><h1>Chair «Lounge»</h1><img alt="A red chair" width=40 height=40><p>Now <s>€ 399</s> <strong>€ 349,50</strong></p><p>Only 3 left in stock</p><dl><dt>Material<dd>Oak<dt>Weight<dd>7.2 kg</dl></article>`,
    schema: {
      type: "object",
      properties: {
        name: { type: "string" },
        price: { type: "number", description: "The current price in euro" },
        material: { type: "string" },
        weightKg: { type: "number" },
        inStock: { type: "boolean" },
      },
      required: ["name", "price", "material", "weightKg", "inStock"],
    },
    isSolved: ({ value }) => {
      const found = value as Record<string, unknown> | null;
      return (
        found?.price === 349.5 && found.material === "Oak" && found.weightKg === 7.2 && found.inStock === true
      );
    },
    solve: [{ name: "dom_query", arguments: {} }],
    value: { name: "Chair «Lounge»", price: 349.5, material: "Oak", weightKg: 7.2, inStock: true },
  },
  {
    id: "table-paging",
    ask: "What does Lamp 27 cost?",
    page: `<table><thead><tr><th>Name<th>Price<tbody id=rows></table><button id=prev disabled>Previous</button> <span id=at></span> <button id=next>Next</button><script>const all = ${JSON.stringify(PRODUCTS)}; let p = 0;
      function show() { rows.innerHTML = all.slice(p * 8, p * 8 + 8).map((l) => '<tr><td>' + l.name + '<td>€ ' + l.price).join(''); at.textContent = 'Page ' + (p + 1) + ' of 4'; prev.disabled = p === 0; next.disabled = p === 3; } prev.onclick = () => { p--; show(); }; next.onclick = () => { p++; show(); }; show();</script>`,
    isSolved: says(new RegExp(`\\b${PRODUCTS[26]?.price}\\b`)),
    solve: [
      "for (let i = 0; i < 3; i++) await page.getByText('Next').click(); return page.getByRole('row', { name: 'Lamp 27' }).innerText();",
    ],
    answer: (results) => /Lamp 27\s+€ (\d+)/.exec(results.at(-1) ?? "")?.[0] ?? "",
  },
  {
    id: "table-sort",
    ask: "Sort the lamps by price, dearest first, and tell me the name of the first.",
    page: `<table><thead><tr><th><button>Name</button><th aria-sort=none><button id=by>Price</button><tbody id=rows></table><script>const all = ${JSON.stringify(PRODUCTS.slice(0, 12))}; let dir = 0; const th = by.parentNode;
      function show() { rows.innerHTML = all.map((l) => '<tr><td>' + l.name + '<td>€ ' + l.price).join(''); } by.onclick = () => { dir = dir === 1 ? -1 : 1; all.sort((a, b) => dir * (a.price - b.price)); th.ariaSort = dir === 1 ? 'ascending' : 'descending'; show(); if (dir === -1) done('sorted'); }; show();</script>`,
    isSolved: (outcome) =>
      reported("sorted")(outcome) &&
      says(
        new RegExp(`${PRODUCTS.slice(0, 12).toSorted((one, other) => other.price - one.price)[0]?.name}\\b`),
      )(outcome),
    solve: [
      "await page.getByText('Price').click(); await page.getByText('Price').click(); return page.locator('tbody tr').first().innerText();",
    ],
    answer: (results) => /Lamp \d+/.exec(results.at(-1) ?? "")?.[0] ?? "",
  },
  {
    id: "search",
    ask: "Search the shop for 'lamp' and open the cheapest result that is in stock.",
    page: `<form onsubmit="event.preventDefault(); list.textContent = 'Searching …'; fetch('results').then((r) => r.json()).then((all) => { list.innerHTML = all.map((l) => '<li><a href=# data-n=' + l.n + '>Lamp ' + l.n + '</a> € ' + l.p + (l.s ? '' : ' <em>sold out</em>') + '</li>').join(''); })"><label>Search <input type=search></label><button>Go</button></form><ul id=list></ul><script>list.onclick = (e) => { if (e.target.dataset.n) done(e.target.dataset.n); };</script>`,
    routes: {
      results: {
        body: JSON.stringify([
          { n: 1, p: 40, s: 1 },
          { n: 2, p: 25, s: 0 },
          { n: 3, p: 31, s: 1 },
        ]),
        type: "application/json",
        delayMs: 400,
      },
    },
    isSolved: reported("3"),
    solve: [
      "await page.getByLabel('Search').fill('lamp'); await page.getByText('Go').click(); await page.getByText('Lamp 3').click();",
    ],
  },
  {
    id: "closed-details",
    ask: "Within how many days can goods be returned?",
    page: `<h1>Help</h1><details><summary>Delivery</summary><p>Within 3 days.</p></details><details><summary>Returns</summary><p>You can return goods within 42 days.</p></details>`,
    isSolved: says(/\b42\b/),
    solve: ["await page.getByText('Returns').click();"],
    answer: (results) => /within \d+ days/.exec(results.join("\n"))?.[0] ?? "",
  },
  {
    id: "tab-panels",
    ask: "What is the warranty of this phone, in months?",
    page: `<div role=tablist><button role=tab aria-selected=true>Overview</button><button role=tab aria-selected=false>Support</button></div><div role=tabpanel>A phone.</div><script>for (const tab of document.querySelectorAll('[role=tab]')) tab.onclick = () => { document.querySelectorAll('[role=tab]').forEach((t) => { t.ariaSelected = String(t === tab); }); document.querySelector('[role=tabpanel]').textContent = tab.textContent === 'Support' ? 'Warranty: 30 months' : 'A phone.'; };</script>`,
    isSolved: says(/\b30\b/),
    solve: ["await page.getByRole('tab', { name: 'Support' }).click();"],
    answer: "30 months",
  },
  {
    id: "picture-text",
    ask: "Which of the three pictures shows a bicycle: the first, the second or the third? Press its button.",
    page: `${["A lighthouse at night", "A blue bicycle", "A bowl of soup"].map((alt, index) => `<figure><img alt="${alt}" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" width=60 height=60><button onclick="done(${index + 1})">Choose</button></figure>`).join("")}`,
    isSolved: reported(2),
    solve: [
      "await page.locator('figure', { has: page.getByAltText('bicycle') }).getByRole('button').click();",
    ],
  },
  {
    id: "sum",
    ask: "Add up the prices in the basket, enter the sum and check out.",
    page: `<ul><li>Tea € 4.20<li>Bread € 3.35<li>Cheese € 7.10</ul><label>Sum <input id=sum></label><button onclick="done(sum.value)">Check out</button>`,
    isSolved: ({ done }) => done.some((value) => /^(€ ?)?14[.,]65$/.test(String(value))),
    solve: ["await page.getByLabel('Sum').fill('14.65'); await page.getByRole('button').click();"],
  },
  {
    id: "generated-content",
    ask: "Which seat is reserved?",
    page: `<style>.seat::after { content: attr(data-state) } .seat { display: block }</style><h1>Seats</h1><span class=seat data-state=" free">11A</span><span class=seat data-state=" reserved">11B</span><span class=seat data-state=" free">11C</span>`,
    isSolved: says(/11B/),
    solve: [{ name: "dom_query", arguments: { selector: ".seat", attributes: ["data-state"] } }],
    answer: "Seat 11B is reserved.",
  },
];
