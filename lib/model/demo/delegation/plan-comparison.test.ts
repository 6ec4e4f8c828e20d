import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { calledBy, exchange, ORIGIN, plan, reportOf, system, user } from "../testing.ts";

const delegationTools = ["spawn_agents", "wait_for_agents"];
const tools = ["browser_execute", "dom_query", ...delegationTools];

type Agent = { name: string; objective: string; browser: string; url: string; resultSchema: object };

/** Returns the sub-agents that the next step spawns. */
function spawnedBy(prompt: LanguageModelV4Message[], offered = tools): Agent[] {
  const step = plan(prompt, offered);
  assert.equal(step.kind, "calls");
  const [call] = step.kind === "calls" ? step.calls : [];
  assert.equal(call?.toolName, "spawn_agents");
  return call?.input.agents as Agent[];
}

const urlsOf = (text: string, instructions = "x") =>
  spawnedBy([system(instructions), user(text)]).map(({ url }) => url);

const shopPage = {
  url: `${ORIGIN}/demo/index.html`,
  title: "Harbour | Paper",
  headingCount: 10,
  headings: ["Things", "Products"],
  linkCount: 12,
  formCount: 0,
  fieldCount: 0,
  productCount: 1,
  products: [{ name: "Brass Pen", price: "£34.00" }],
};
const cartPage = {
  ...shopPage,
  url: `${ORIGIN}/demo/cart.html`,
  title: "Cart",
  headingCount: 1,
  headings: ["Your cart"],
  productCount: 0,
  products: [],
};

type Report = { status?: string; submitted?: boolean; result?: unknown; error?: string };

/** Creates the prompt of a turn that compares two demo pages and has the results of its sub-agents. */
function compared(shop: Report, cart: Report): LanguageModelV4Message[] {
  const report = (name: string, more: Report) => ({
    agentId: `ses_${name}`,
    name,
    status: "succeeded",
    submitted: true,
    ...more,
  });
  const prompt = [system("x"), user("compare /demo with /demo/cart.html")];
  prompt.push(...exchange("spawn_agents", { agents: spawnedBy(prompt) }, "[]"));
  prompt.push(
    ...exchange("wait_for_agents", {}, JSON.stringify([report("cart", cart), report("demo", shop)], null, 1)),
  );
  return prompt;
}

test("a comparison spawns a sub-agent with its own browser for each page", () => {
  const agents = spawnedBy([system("x"), user("Compare /demo with /demo/cart.html, please.")]);
  assert.deepEqual(
    agents.map(({ name, browser, url }) => ({ name, browser, url })),
    [
      { name: "demo", browser: "own", url: `${ORIGIN}/demo` },
      { name: "cart", browser: "own", url: `${ORIGIN}/demo/cart.html` },
    ],
  );
  for (const { objective, url, resultSchema } of agents) {
    assert.ok(objective.includes(url));
    assert.equal((resultSchema as { type: string }).type, "object");
  }
});

test("paths are resolved against the open page, then the target page, then the demo page", () => {
  const task = "what is the difference between / and /pricing?";
  const both = "Current page: https://c.example/a/b\nTarget page: https://t.example/";
  assert.deepEqual(urlsOf(task, both), ["https://c.example/", "https://c.example/pricing"]);
  assert.deepEqual(urlsOf(task, "Target page: https://t.example/x"), [
    "https://t.example/",
    "https://t.example/pricing",
  ]);
  assert.deepEqual(urlsOf(task, "Demo page: http://localhost:9/demo"), [
    "http://localhost:9/",
    "http://localhost:9/pricing",
  ]);
});

test("addresses are deduped and read without fragment and punctuation; words with a slash are not addresses", () => {
  assert.deepEqual(
    urlsOf(
      'compare the prices and/or titles of "https://a.example/x?y=1", (https://b.example/), </b> and https://a.example/x?y=1#z.',
    ),
    ["https://a.example/x?y=1", "https://b.example/"],
  );
});

test("names follow the rules of spawn_agents and are unique in a session", () => {
  const first = [system("x"), user(`compare /a/index.html, /b/index.html, /Über-${"x".repeat(40)} and /`)];
  const agents = spawnedBy(first);
  const names = agents.map(({ name }) => name);
  assert.deepEqual([names[0], names[1], names[3]], ["index", "index-2", "127-0-0-1"]);
  for (const name of names) assert.match(name, /^[a-z0-9-]{1,32}$/);

  const again = [
    ...first,
    ...exchange("spawn_agents", { agents }, "[]"),
    user("compare /b/index.html and /c"),
  ];
  assert.deepEqual(
    spawnedBy(again).map(({ name }) => name),
    ["index-3", "c"],
  );
});

test("at most four pages are compared, and the report says how many were left out", () => {
  const task = user("compare /1 /2 /3 /4 /5 /6");
  const agents = spawnedBy([task]);
  assert.equal(agents.length, 4);
  const prompt = [
    task,
    ...exchange("spawn_agents", { agents }, "[]"),
    ...exchange("wait_for_agents", {}, "[]"),
  ];
  assert.match(reportOf(plan(prompt, tools)), /at most 4 pages, so I left out 2/);
});

test("sub-agents of a session without a browser have no browser", () => {
  const [agent] = spawnedBy([user("compare /a with /b")], ["fetch_url", ...delegationTools]);
  assert.equal(agent?.browser, "none");
});

test("the turn waits for the sub-agents that it spawned", () => {
  const prompt = [user("compare /a with /b")];
  const spawned = [
    { agentId: "ses_1", name: "a", statusUrl: "/x" },
    { agentId: "ses_2", name: "b", statusUrl: "/y" },
  ];
  prompt.push(...exchange("spawn_agents", { agents: spawnedBy(prompt) }, JSON.stringify(spawned)));
  const step = plan(prompt, tools);
  assert.deepEqual(step.kind === "calls" ? step.calls : [], [
    { toolName: "wait_for_agents", input: { agentIds: ["ses_1", "ses_2"] } },
  ]);
});

test("the report is a table of the results and lists the differences", () => {
  const report = reportOf(plan(compared({ result: shopPage }, { result: cartPage }), tools));
  assert.match(report, /^\| Fact \| \/demo \| \/demo\/cart\.html \|\n\| --- \| --- \| --- \|\n/);
  assert.match(report, /\| Title \| Harbour \\\| Paper \| Cart \|/);
  assert.match(report, /\| Headings \| 10: Things, Products, … \| 1: Your cart \|/);
  assert.match(report, /\| Links \| 12 \| 12 \|/);
  assert.match(report, /\| Prices \| 1: Brass Pen £34\.00 \| 0 \|/);
  assert.match(report, /Different: title, headings, prices\. The same: links, forms, form fields\./);
  assert.match(report, /Built-in demo model/);
});

test("counts of a partially read page are lower bounds", () => {
  const report = reportOf(
    plan(compared({ result: { ...shopPage, isPartial: true } }, { result: cartPage }), tools),
  );
  assert.match(report, /\| Links \| at least 12 \| 12 \|/);
});

test("the report names each sub-agent without a result and the reason", () => {
  const failed = plan(
    compared({ result: shopPage }, { status: "failed", error: "The model is away." }),
    tools,
  );
  assert.match(reportOf(failed), /^\| Fact \| \/demo \|\n/);
  assert.match(
    reportOf(failed),
    /Sub-agent `cart` has no result for .*\/demo\/cart\.html: it is failed: The model is away\./,
  );

  const silent = plan(
    compared({ submitted: false, result: "I could not open the page. No such host.\n\n_Demo_" }, {}),
    tools,
  );
  assert.match(reportOf(silent), /^No sub-agent could read its page\./);
  assert.match(
    reportOf(silent),
    /`demo` has no result for .*: I could not open the page\. No such host\.\n\n.*`cart` has no result/,
  );
});

test("a refusal of spawn_agents is quoted in the report", () => {
  const refusal =
    "Error: spawn_agents: 2 more children would exceed maxLiveChildren=1 (0 live). Wait for one, cancel one, or spawn fewer.";
  const prompt = [user("compare /a with /b"), ...exchange("spawn_agents", {}, refusal, true)];
  assert.match(
    reportOf(plan(prompt, tools)),
    /could not start the sub-agents, so I compared nothing\. The answer was: spawn\\_agents: 2 more children would exceed maxLiveChildren=1 \(0 live\)\. Wait for one, cancel one, or spawn fewer\./,
  );
});

test("a session that may not delegate reads only the first page and reports that", () => {
  const prompt = [user("compare /demo/checkout.html with /demo/cart.html")];
  assert.match(calledBy(plan(prompt))[0] ?? "", /goto\("http:\/\/127\.0\.0\.1:3000\/demo\/checkout\.html"/);
  prompt.push(...exchange("browser_execute", { script: "x" }, "net::ERR_FAILED", true));
  assert.match(
    reportOf(plan(prompt)),
    /^This session may not delegate to sub-agents, so this is about one page only/,
  );
});

test("a message with one address or without a comparison is not delegated", () => {
  for (const text of ["compare this page with /demo/cart.html", "look at /demo and /demo/cart.html"])
    assert.match(calledBy(plan([user(text)], tools))[0] ?? "", /^browser_execute/);
});
