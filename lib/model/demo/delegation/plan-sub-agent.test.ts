import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { answerOf, calledBy, exchange, ORIGIN, plan, reportOf, system, user } from "../testing.ts";
import { PAGE_RESULT_SCHEMA } from "./page-result.ts";

const tools = ["browser_execute", "dom_query", "submit_result", "report_progress"];
const fieldSelector = "input:not([type=hidden]), select, textarea";
const cart = `${ORIGIN}/demo/cart.html`;

/** Creates the instructions that the service gives a sub-agent whose result has to fit a schema. */
const instructions = (schema: string) =>
  system(
    `## You are a sub-agent\n\n- Your result has to fit this JSON Schema:\n\n\`\`\`json\n${schema}\n\`\`\`\n\nTarget page: ${cart}`,
  );

const task = user(`Read the page ${cart} and submit its title, headings, links and number of forms.`);

/** Creates the prompt of a sub-agent that has read its page. */
function read(
  schema: string = JSON.stringify(PAGE_RESULT_SCHEMA, null, 1),
  headings = answerOf(cart, "Cart", [
    { role: "heading", name: "Your cart", selector: "h1" },
    { role: "heading", name: "Sum", selector: "h2" },
  ]),
): LanguageModelV4Message[] {
  const opened = JSON.stringify({ url: cart, title: "Cart" });
  const form = answerOf(cart, "Cart", [{ role: "form", name: "", selector: "form" }]);
  return [
    instructions(schema),
    task,
    ...exchange("browser_execute", { script: "goto" }, opened),
    ...exchange("dom_query", { selector: fieldSelector }, "No visible element matches input."),
    ...exchange("dom_query", { selector: "h1, h2, h3" }, headings),
    ...exchange("dom_query", { selector: "a[href]" }, "No visible element matches a[href]."),
    ...exchange("dom_query", { selector: "form" }, form),
  ];
}

const reported = exchange("report_progress", { text: "x" }, "Reported.");

function inputOf(prompt: LanguageModelV4Message[], toolName: string): Record<string, unknown> {
  const step = plan(prompt, tools);
  const [call] = step.kind === "calls" ? step.calls : [];
  assert.equal(call?.toolName, toolName);
  return call?.input ?? {};
}

test("a sub-agent opens and queries its page with its tools", () => {
  assert.match(calledBy(plan([instructions("{}"), task], tools))[0] ?? "", /goto\(".*cart\.html"/);
  const opened = exchange("browser_execute", { script: "goto" }, JSON.stringify({ url: cart }));
  assert.deepEqual(calledBy(plan([instructions("{}"), task, ...opened], tools)), [
    `dom_query ${fieldSelector}`,
    "dom_query h1, h2, h3",
    "dom_query a[href]",
    "dom_query form",
  ]);
});

test("it reports its progress once, then submits a value for its schema", () => {
  assert.deepEqual(inputOf(read(), "report_progress"), {
    text: "Read Cart (headings: 2, links: 0, form fields: 0, prices: 0).",
  });
  assert.deepEqual(inputOf([...read(), ...reported], "submit_result").result, {
    url: cart,
    title: "Cart",
    headingCount: 2,
    headings: ["Your cart", "Sum"],
    linkCount: 0,
    formCount: 1,
    fieldCount: 0,
    productCount: 0,
    products: [],
    isPartial: false,
  });
});

test("the result of a partially read page is marked as partial", () => {
  const elements = answerOf(cart, "Cart", [{ role: "heading", name: "Your cart", selector: "h1" }]);
  const cut = elements.replace("1 elements match", "70 elements match, the first 1 shown");
  const { result } = inputOf([...read(undefined, cut), ...reported], "submit_result");
  assert.equal((result as { isPartial: boolean }).isPartial, true);
});

test("without a complete schema in the instructions, the report is the result", () => {
  for (const schema of ["{}", '{"type": "obj']) {
    const { result } = inputOf([...read(schema), ...reported], "submit_result");
    assert.match(String(result), /\*\*Cart\*\* at .*cart\.html[\s\S]*- Your cart[\s\S]*Number of forms: 1\./);
  }
});

test("an unreadable page is reported, and nothing is submitted", () => {
  const failed = [
    instructions("{}"),
    task,
    ...exchange("browser_execute", { script: "goto" }, "net::ERR_CONNECTION_REFUSED", true),
  ];
  assert.match(reportOf(plan(failed, tools)), /^I could not open the page\..*REFUSED/);
  const queryFailed = [...read(), ...exchange("dom_query", { selector: "form" }, "timed out", true)];
  assert.match(reportOf(plan(queryFailed, tools)), /could not read the forms: timed out/);
});

test("a refused result ends the turn with the refusal", () => {
  const refused = exchange("submit_result", {}, "submit_result: /title: must be number", true);
  assert.match(
    reportOf(plan([...read(), ...reported, ...refused], tools)),
    /^My result was not accepted: .*must be number/,
  );
});
