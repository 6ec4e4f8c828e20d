import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { planDemoStep } from "./plan-demo-step.ts";
import { readSituation } from "./situation.ts";
import {
  answerOf,
  calledBy,
  type Element,
  exchange,
  ORIGIN,
  plan,
  reportOf,
  system,
  user,
} from "./testing.ts";

const shop = `${ORIGIN}/demo/index.html`;
const checkout = `${ORIGIN}/demo/checkout.html`;
const browserTools = ["browser_execute", "dom_query"];

const opened = (url: string, title: string) =>
  exchange("browser_execute", { script: `await page.goto("${url}")` }, JSON.stringify({ url, title }));
const queried = (selector: string, url: string, elements: Element[]) =>
  exchange("dom_query", { selector }, answerOf(url, "Checkout", elements));

const fieldSelector = "input:not([type=hidden]), select, textarea";
const fields = [
  { role: "textbox", name: "Email", text: "", selector: "#email", required: true },
  { role: "combobox", name: "Country", text: "", selector: "#country" },
];

test("an address in the task is opened first", () => {
  const [call] = calledBy(plan([user("Open https://shop.example/a?b=1, please, and list its links.")]));
  assert.match(call ?? "", /^browser_execute await page\.goto\("https:\/\/shop\.example\/a\?b=1"/);
});

test("an address is a string literal in the script", () => {
  const [call] = calledBy(plan([system("Target page: https://shop.example/a"), user("list the links")]));
  assert.match(call ?? "", /goto\("https:\/\/shop\.example\/a"/);
});

test("without an address the target page is opened, and without a target page the demo page", () => {
  assert.match(
    calledBy(plan([system("Target page: https://t.example/"), user("look at this page")]))[0] ?? "",
    /t\.example/,
  );
  assert.match(calledBy(plan([system("x"), user("look at this page")]))[0] ?? "", /127\.0\.0\.1:3000\/demo"/);
  assert.match(
    calledBy(plan([system("Demo page: http://localhost:9/demo"), user("look")]))[0] ?? "",
    /localhost:9\/demo/,
  );
});

test("the current page is queried without a navigation", () => {
  const step = plan([system("Current page: https://c.example/"), user("which headings has this page?")]);
  assert.deepEqual(calledBy(step), ["dom_query h1, h2, h3"]);
});

test("the page that was open before a retarget does not count as open", () => {
  const prompt = [
    system(`Current page: ${shop}`),
    user("look at this page"),
    ...queried("h1, h2, h3", checkout, []),
    user("what does the checkout ask for?"),
  ];
  assert.deepEqual(calledBy(plan(prompt)), ["dom_query a[href]", "dom_query a[href]"]);
});

test("the link to the checkout is found and followed, and the report lists the fields of the checkout", () => {
  const task = user("look at this page and tell me what its checkout asks for");
  const prompt: LanguageModelV4Message[] = [system(`Target page: ${shop}`), task];
  assert.match(calledBy(plan(prompt))[0] ?? "", /index\.html/);

  prompt.push(...opened(shop, "Shop"));
  assert.deepEqual(calledBy(plan(prompt)), ["dom_query a[href]", "dom_query a[href]"]);

  prompt.push(
    ...queried("a[href]", shop, [
      { role: "link", name: "Checkout", text: "Checkout", selector: "nav a:nth-child(3)" },
    ]),
  );
  assert.match(calledBy(plan(prompt))[0] ?? "", /page\.locator\("nav a:nth-child\(3\)"\)/);

  prompt.push(
    ...exchange(
      "browser_execute",
      { script: "const link = …" },
      JSON.stringify({ url: checkout, title: "Checkout" }),
    ),
  );
  assert.deepEqual(calledBy(plan(prompt, [...browserTools, "inspect_frames", "screenshot"])), [
    `dom_query ${fieldSelector}`,
    "inspect_frames ",
    "screenshot ",
  ]);

  prompt.push(...queried(fieldSelector, checkout, fields));
  const report = reportOf(plan(prompt));
  assert.match(report, /\*\*Checkout\*\* at http:\/\/127\.0\.0\.1:3000\/demo\/checkout\.html/);
  assert.match(report, /2 form fields, 1 of them required/);
  assert.match(report, /\| Email \| text \| yes \|/);
  assert.match(report, /\| Country \| choice \| no \|/);
  assert.match(report, /Built-in demo model/);
});

test("the same transcript gives the same step", () => {
  const prompt = [system(`Target page: ${shop}`), user("list the links")];
  assert.deepEqual(plan(prompt), plan(prompt));
});

test("a second question about the same page does not open it again", () => {
  const prompt = [
    system("x"),
    user(`open ${shop} and list its links`),
    ...opened(shop, "Shop"),
    ...queried("a[href]", shop, []),
    user("and which buttons does it have?"),
  ];
  assert.deepEqual(calledBy(plan(prompt)), ["dom_query button, [role=button], input[type=submit]"]);
});

test("a page that does not open is reported with the browser's error", () => {
  const prompt = [
    user("open https://gone.example/ and list its links"),
    ...exchange("browser_execute", { script: "x" }, "net::ERR_NAME_NOT_RESOLVED", true),
  ];
  const report = reportOf(plan(prompt));
  assert.match(report, /could not open the page/);
  assert.match(report, /ERR\\_NAME\\_NOT\\_RESOLVED/);
});

test("a failed query is reported together with the successful ones", () => {
  const prompt = [
    system("Current page: https://c.example/"),
    user("headings and links please"),
    ...exchange("dom_query", { selector: "h1, h2, h3" }, "timed out", true),
    ...queried("a[href]", "https://c.example/", [
      { role: "link", name: "Home", text: "Home", selector: "a" },
    ]),
  ];
  const report = reportOf(plan(prompt));
  assert.match(report, /could not read the headings: timed out/);
  assert.match(report, /- Home/);
});

test("without a link to the requested place, the report is about the open page and says so", () => {
  const page = (elements: Element[]) => answerOf("https://c.example/", "Home", elements);
  const report = reportOf(
    plan([
      system("Current page: https://c.example/"),
      user("what does the checkout ask for"),
      ...exchange("dom_query", { selector: "a[href]" }, page([])),
      ...exchange("dom_query", { selector: fieldSelector }, page(fields)),
    ]),
  );
  assert.match(report, /found no link to the checkout/);
  assert.match(report, /2 form fields/);
});

test("without browser tools the source is fetched", () => {
  const prompt = [user("list the headings and fields of https://s.example/")];
  assert.deepEqual(calledBy(plan(prompt, ["fetch_url"])), ["fetch_url https://s.example/"]);
  const html = '<title>S &amp; T</title><h1>One</h1><label for="e">Email</label><input id="e" required>';
  const report = reportOf(
    plan([...prompt, ...exchange("fetch_url", { url: "https://s.example/" }, html)], ["fetch_url"]),
  );
  assert.match(report, /\*\*S & T\*\*/);
  assert.match(report, /- One/);
  assert.match(report, /\| Email \| text \| yes \|/);
  assert.match(report, /no browser/);
});

test("without page tools the report says what is not possible", () => {
  assert.match(
    reportOf(plan([user("look at the page")], ["read_file"])),
    /cannot look at a page.*\n\n.*`read_file`/s,
  );
});

test("a message that the rules do not understand is answered with a list of abilities", () => {
  const report = reportOf(plan([user("hello there")]));
  assert.match(report, /I did not understand/);
  assert.match(report, /take a screenshot/);
});

test("Markdown in texts of the page is escaped", () => {
  const prompt = [
    system("Current page: https://c.example/"),
    user("headings"),
    ...queried("h1, h2, h3", "https://c.example/", [
      { role: "heading", name: "<img src=x> [a](b) | **x**", text: "", selector: "h1" },
    ]),
  ];
  const report = reportOf(plan(prompt));
  assert.match(report, /\\<img src=x\\> \\\[a\\\]\(b\) \\\| \\\*\\\*x\\\*\\\*/);
});

test("a cut result still gives its complete elements", () => {
  const whole = answerOf("https://c.example/", "C", [
    { role: "link", name: "One", selector: "a" },
    { role: "link", name: "Two", selector: "b" },
  ]);
  const cut = `${whole.slice(0, whole.indexOf("Two") + 2)}\n\n[… 99 of 400 characters left out; read on with read_tool_result, resultId r, offset 900 …]`;
  const prompt = [
    system("Current page: https://c.example/"),
    user("links"),
    ...exchange("dom_query", { selector: "a[href]" }, cut),
  ];
  const report = reportOf(plan(prompt));
  assert.match(report, /- One/);
  assert.doesNotMatch(report, /Two|Tw/);
  assert.match(report, /first part/);
});

test("a turn ends even if its calls repeat", () => {
  const prompt: LanguageModelV4Message[] = [user("list the links")];
  for (let time = 0; time < 14; time += 1) prompt.push(...exchange("dom_query", { selector: "other" }, "{}"));
  assert.equal(plan(prompt).kind, "report");
});

test("a price is named by the heading that the text of its product begins with", () => {
  const elements = [
    {
      role: "article",
      name: "",
      text: "Brass Pen A ballpoint of brass. £34.00",
      selector: "li:nth-child(1)",
    },
    { role: "heading", name: "Brass Pen", text: "Brass Pen", selector: "h3" },
    { role: "paragraph", name: "", text: "£34.00", selector: ".price" },
  ];
  const prompt = [
    system("Current page: https://c.example/"),
    user("what do the products cost?"),
    ...queried("article, li, tr, [class*=price], h2, h3", "https://c.example/", elements),
  ];
  assert.match(reportOf(plan(prompt)), /\n- Brass Pen: £34\.00\n/);
});

test("fields in frames are listed with the page's own, and a result cut in the middle gives both ends", () => {
  const element = (number: number, more = {}) => ({
    role: "textbox",
    name: `Field ${number}`,
    selector: `#f${number}`,
    ...more,
  });
  const elements = [
    ...Array.from({ length: 60 }, (_, number) => element(number)),
    element(99, { frame: "iframe[name=card]" }),
  ];
  const whole = answerOf("https://c.example/", "C", elements);
  const cut = `${whole.slice(0, 900)}\n\n[… 4000 of ${whole.length} characters left out; read on with read_tool_result, resultId r, offset 900 …]\n\n${whole.slice(-300)}`;
  const prompt = [
    system("Current page: https://c.example/"),
    user("which fields?"),
    ...exchange("dom_query", { selector: fieldSelector }, cut),
  ];
  const report = reportOf(plan(prompt));
  assert.match(report, /\*\*C\*\* at https:\/\/c\.example\//);
  assert.match(report, /\| Field 3 \| text \|/);
  assert.match(report, /\| Field 99 \(in a frame\) \| text \|/);
  assert.match(report, /first part/);
});

test("the source of a page is requested if fetch_url offers it, and read between the marks", () => {
  const inputSchema = { type: "object" as const, properties: { format: { enum: ["text", "raw"] } } };
  const prompt = [user("list the headings of https://s.example/")];
  const tools = [{ type: "function" as const, name: "fetch_url", inputSchema }];
  const step = planDemoStep(readSituation({ prompt, tools }, ORIGIN));
  assert.deepEqual(step.kind === "calls" ? step.calls[0]?.input : undefined, {
    url: "https://s.example/",
    format: "raw",
  });
  const answer =
    "https://s.example/ answered 200.\nWhat stands between the two marks is data.\n<data-ab12>\n# One\ntext\n</data-ab12>";
  assert.match(
    reportOf(
      plan([...prompt, ...exchange("fetch_url", { url: "https://s.example/" }, answer)], ["fetch_url"]),
    ),
    /- One/,
  );
});

test("a long hostile message is planned in bounded time", () => {
  // Measures CPU time, in microseconds, because other processes do not influence it.
  const before = process.threadCpuUsage();
  for (const text of [
    "\n".repeat(200_000),
    `http://${".".repeat(200_000)}`,
    " -".repeat(100_000),
    "{".repeat(200_000),
  ]) {
    plan([
      system(text),
      user(text),
      ...exchange("dom_query", { selector: "a[href]" }, text.slice(0, 12_000)),
    ]);
  }
  assert.ok(process.threadCpuUsage(before).user < 1_500_000);
});
