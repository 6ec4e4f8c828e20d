import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { DemoStep } from "../situation.ts";
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
} from "../testing.ts";

const URL = `${ORIGIN}/demo/index.html`;
const tools = ["browser_execute", "dom_query", "apply_variant"];
const HEADLINE = "h1, :is(h1) > *";
const headline = { role: "heading", name: "Things", selector: "h1" };

/** Creates the prompt of a turn with an open page and a task. */
const begin = (task: string): LanguageModelV4Message[] => [system(`Current page: ${URL}`), user(task)];
const found = (input: object, ...elements: Element[]) =>
  exchange("dom_query", input, answerOf(URL, "Shop", elements));
const none = (input: object) =>
  exchange(
    "dom_query",
    input,
    'No visible element matches x. Closest: data\n<data-ab12>\nlink "Cart"\n</data-ab12>',
  );

/** Creates the messages of a successful call of `apply_variant`. */
function stored(revision: number, lines: string[], input: object = {}): LanguageModelV4Message[] {
  const data = lines.length > 0 ? [`<data-ab12>\n${lines.join("\n")}\n</data-ab12>`] : [];
  const text = [`Stored revision ${revision} of variant main. The live page shows it.`, ...data].join("\n");
  return exchange("apply_variant", input, text);
}
const refused = (text: string, input: object = {}) =>
  exchange("apply_variant", input, `apply_variant: ${text}`, true);

/** Returns the input of the only call of a step. */
function inputOf(step: DemoStep, toolName: string): Record<string, unknown> {
  assert.equal(step.kind, "calls");
  const [call, ...others] = step.kind === "calls" ? step.calls : [];
  assert.deepEqual([call?.toolName, others.length], [toolName, 0]);
  return call?.input ?? {};
}

/** Returns the changes of the `apply_variant` call, without their notes. */
function changesOf(step: DemoStep): Record<string, unknown>[] {
  const { add } = inputOf(step, "apply_variant");
  assert.ok(Array.isArray(add));
  return add.map(({ note: _note, ...change }) => change);
}

describe("a turn that edits", () => {
  test("opens the page, finds the elements, stores one revision, checks it and reports", () => {
    const task = "make the headline say 'Sale' and hide the footer";
    const prompt = [system(`Target page: ${URL}`), user(task)];
    const all = [...tools, "check_variant"];
    assert.match(calledBy(plan(prompt, all))[0] ?? "", /page\.goto/);
    prompt.push(
      ...exchange("browser_execute", { script: "goto" }, JSON.stringify({ url: URL, title: "Shop" })),
    );
    assert.deepEqual(calledBy(plan(prompt, all)), [`dom_query ${HEADLINE}`, "dom_query footer"]);
    prompt.push(
      ...found({ selector: HEADLINE }, headline),
      ...found(
        { selector: "footer" },
        { role: "contentinfo", name: "", text: "Imprint", selector: "footer" },
      ),
    );
    assert.deepEqual(inputOf(plan(prompt, all), "apply_variant"), {
      baseRevision: 0,
      add: [
        { op: "setText", selector: "h1", text: "Sale", note: "make the headline say “Sale”" },
        { op: "remove", selector: "footer", note: "hide the footer" },
      ],
    });
    prompt.push(
      ...stored(1, [
        'c1 setText "h1": 1 element',
        '  heading 1 "Things" [e1] text "Things" → "Sale" box 0,0 10×10',
        'c2 remove "footer": 1 element',
        '  contentinfo [e2] text "Imprint" → "" box 0,0 10×10 → hidden',
      ]),
    );
    assert.deepEqual(inputOf(plan(prompt, all), "check_variant"), {});
    const answer =
      "Check of revision 1 of variant main: warn.\ndata\n<data-cd34>\n- warn csp_blocks_script (url): The policy.\n</data-cd34>";
    prompt.push(...exchange("check_variant", {}, answer));
    const report = reportOf(plan(prompt, all));
    assert.match(
      report,
      /^Stored revision 1 of variant main\. The live page shows it\.\n\n- Text of `h1`: “Things” → “Sale”\n- Removed `footer`: “Imprint”\n/,
    );
    assert.match(
      report,
      /\nCheck of revision 1: \*\*warn\*\*\.\n\n- warn csp\\_blocks\\_script \(url\): The policy\.\n/,
    );
  });

  test("without check_variant the report says that the revision is not checked", () => {
    const prompt = [
      ...begin("hide the footer"),
      ...found({ selector: "footer" }, { ...headline, selector: "footer" }),
      ...stored(1, []),
    ];
    assert.match(
      reportOf(plan(prompt, tools)),
      /Revision 1 is not checked: this turn does not offer `check_variant`\./,
    );
  });

  test("the report distinguishes a failed tool call from a failed check", () => {
    const prompt = [
      ...begin("hide the footer"),
      ...found({ selector: "footer" }, { ...headline, selector: "footer" }),
      ...stored(1, []),
    ];
    const all = [...tools, "check_variant"];
    const failed = exchange("check_variant", {}, "the browser is gone", true);
    assert.match(
      reportOf(plan([...prompt, ...failed], all)),
      /Revision 1 is not checked\. The answer was: the browser is gone/,
    );
    const result =
      "Check of revision 1 of variant main: fail.\n- fail no_match (c1): “footer” matches nothing.";
    const report = reportOf(plan([...prompt, ...exchange("check_variant", {}, result)], all));
    assert.match(report, /Check of revision 1: \*\*fail\*\*\.\n\n- fail no\\_match/);
  });

  test("nothing is changed when the page does not open", () => {
    const prompt = [
      user("open https://gone.example/ and hide the banner"),
      ...exchange("browser_execute", { script: "x" }, "net::ERR_NAME_NOT_RESOLVED", true),
    ];
    assert.match(
      reportOf(plan(prompt, tools)),
      /^I could not open the page, so I changed nothing\. .*NOT\\_RESOLVED/,
    );
  });

  test("the report names a missing tool in sessions that are not structured", () => {
    const task = user("hide the headline");
    assert.match(reportOf(plan([task], ["browser_execute", "dom_query"])), /does not offer `apply_variant`/);
    assert.match(reportOf(plan([task], ["apply_variant"])), /does not offer `dom_query`/);
    const structured = plan([system(`x\n\n## Typed result\n\nCurrent page: ${URL}`), task], ["dom_query"]);
    assert.deepEqual(calledBy(structured), ["dom_query h1, h2, h3"]);
  });

  test("a sub-agent reads its page and does not edit it", () => {
    const step = plan(begin("hide the headline"), [...tools, "submit_result"]);
    assert.doesNotMatch(calledBy(step).join(), /apply_variant/);
  });
});

describe("finding the elements", () => {
  const buttons = 'button, [role="button"], a[class*="button" i], a[class*="btn" i]';

  test("a child with the whole text is changed instead of its heading", () => {
    const prompt = [...begin("make the headline say 'Sale'")];
    prompt.push(
      ...found({ selector: HEADLINE }, headline, { role: "link", name: "Things", selector: "h1 > a" }),
    );
    assert.deepEqual(changesOf(plan(prompt, tools)), [{ op: "setText", selector: "h1 > a", text: "Sale" }]);
  });

  test("the next search runs only if the first one found nothing", () => {
    const prompt = [...begin("make the headline bold"), ...none({ selector: "h1" })];
    assert.deepEqual(calledBy(plan(prompt, tools)), ['dom_query h2, h3, [role="heading"]']);
    prompt.push(...none({ selector: 'h2, h3, [role="heading"]' }));
    const report = reportOf(plan(prompt, tools));
    assert.match(
      report,
      /^I changed nothing\.\n\n- Not done: “make the headline bold”\. I found no visible element for the headline\. Closest on the page: link "Cart"/,
    );
  });

  test("an element without an id is selected by its class if the class is unique", () => {
    const notices = ':is([id*="notice" i]';
    const selectorOf = (step: DemoStep) => calledBy(step)[0]?.replace("dom_query ", "") ?? "";
    const prompt = [...begin("hide the notice")];
    const selector = selectorOf(plan(prompt, tools));
    assert.ok(selector.startsWith(notices), selector);
    const classed = (id: string, classes: string) => ({ role: "paragraph", name: "", selector: id, classes });
    const one = [classed("body > p", "wide notice"), classed("div > p", "notice-text")];
    assert.deepEqual(changesOf(plan([...prompt, ...found({ selector }, ...one)], tools)), [
      { op: "remove", selector: ".notice" },
    ]);
    const two = [classed("body > p", "notice"), classed("div > p", "notice")];
    assert.deepEqual(changesOf(plan([...prompt, ...found({ selector }, ...two)], tools)), [
      { op: "remove", selector: "body > p" },
    ]);
  });

  test("one of several matches is reported, all of them need one change, and a text selects the exact match", () => {
    const two = [
      { role: "button", name: "Add to cart", selector: "#a" },
      { role: "button", name: "Add", selector: "#b" },
    ];
    const one = [...begin("make the button green"), ...found({ selector: buttons }, ...two)];
    const style = { background: "green", color: "#fff" };
    assert.deepEqual(changesOf(plan(one, tools)), [{ op: "setStyle", selector: "#a", style }]);
    assert.match(
      reportOf(plan([...one, ...stored(1, [])], tools)),
      /2 elements match the button; this is the first one\./,
    );
    const all = [...begin("make the buttons green"), ...found({ selector: buttons }, ...two)];
    assert.deepEqual(changesOf(plan(all, tools)), [{ op: "setStyle", selector: buttons, style }]);
    const exact = [...begin("hide the button 'Add'"), ...found({ selector: buttons, text: "Add" }, ...two)];
    assert.deepEqual(changesOf(plan(exact, tools)), [{ op: "remove", selector: "#b" }]);
  });

  test("elements in frames and form fields are not changed", () => {
    const framed = { role: "heading", name: "Card", selector: "h1", frame: "iframe" };
    const prompt = [...begin("make the headline say 'X'"), ...found({ selector: HEADLINE }, framed)];
    assert.match(calledBy(plan(prompt, tools))[0] ?? "", /^dom_query h2, h3/);
    const field = { role: "combobox", name: "Currency", selector: "#currency" };
    const fieldPrompt = begin("change the currency to EUR");
    const [call] = plan(fieldPrompt, tools).kind === "calls" ? calledBy(plan(fieldPrompt, tools)) : [];
    fieldPrompt.push(...found({ selector: call?.replace("dom_query ", "") ?? "" }, field));
    assert.match(reportOf(plan(fieldPrompt, tools)), /the currency is a form field or a picture/);
  });

  test("a part of a text is replaced only if the element has no children", () => {
    const paragraph = { role: "paragraph", name: "", text: "Free from £30 on.", selector: "main > p" };
    const prompt = [...begin("replace '£30' with '£50'"), ...found({ text: "£30" }, paragraph)];
    assert.deepEqual(inputOf(plan(prompt, tools), "dom_query"), {
      selector: "main > p > *",
      includeHidden: true,
    });
    assert.deepEqual(changesOf(plan([...prompt, ...none({ selector: "main > p > *" })], tools)), [
      { op: "setText", selector: "main > p", text: "Free from £50 on." },
    ]);
    const link = { role: "link", name: "on", selector: "main > p > a" };
    const report = reportOf(plan([...prompt, ...found({ selector: "main > p > *" }, link)], tools));
    assert.match(report, /has other elements inside of it, so I left it as it is/);
  });

  test("text is escaped in HTML", () => {
    const prompt = [
      ...begin("add a note '<b>A & B</b>' below the headline"),
      ...found({ selector: "h1" }, headline),
    ];
    assert.deepEqual(changesOf(plan(prompt, tools)), [
      { op: "insert", selector: "h1", position: "after", html: "<p>&lt;b&gt;A &amp; B&lt;/b&gt;</p>" },
    ]);
  });
});

describe("refusals", () => {
  const add = [{ op: "remove", selector: "footer", note: "hide the footer" }];
  const looked = () => [
    ...begin("hide the footer"),
    ...found({ selector: "footer" }, { ...headline, selector: "footer" }),
  ];
  const stale = (base: number, newest: number) =>
    `baseRevision: ${base} is stale; the newest revision is ${newest}. Changed since:\n- added {"id":"c1"}`;

  test("a stale base is corrected once for each newer revision", () => {
    const prompt = [...looked(), ...refused(stale(0, 3), { baseRevision: 0, add })];
    assert.deepEqual(inputOf(plan(prompt, tools), "apply_variant"), { baseRevision: 3, add });
    prompt.push(...refused(stale(3, 3), { baseRevision: 3, add }));
    assert.match(reportOf(plan(prompt, tools)), /^The change failed\. The answer was: .*is stale/);
  });

  test("the base is the newest revision of the transcript or of the instructions", () => {
    const earlier = [...begin("hide the banner"), ...stored(4, ['c1 remove "x": 1 element'])];
    const next = [...earlier, user("hide the footer"), ...looked().slice(2)];
    assert.equal(inputOf(plan(next, tools), "apply_variant").baseRevision, 4);
    const edited = [system("- Variant main has revision 6, not checked."), ...next];
    assert.equal(inputOf(plan(edited, tools), "apply_variant").baseRevision, 6);
  });

  test("the closest candidate is tried once", () => {
    const text =
      '<data-ab12>\nc1 remove "footer": no element matches. Closest:\n  div.foot > p:nth-of-type(2): paragraph "Imprint" [e9]\n  nav: navigation [e1]\n</data-ab12>';
    const prompt = [...looked(), ...refused(text, { baseRevision: 0, add })];
    const closest = [{ ...add[0], selector: "div.foot > p:nth-of-type(2)" }];
    assert.deepEqual(inputOf(plan(prompt, tools), "apply_variant"), { baseRevision: 0, add: closest });
    const again = [
      ...prompt,
      ...refused(text.replace('"footer"', '"div"'), { baseRevision: 0, add: closest }),
    ];
    assert.match(reportOf(plan(again, tools)), /^The change failed\. /);
    const done = reportOf(plan([...prompt, ...stored(1, [], { add: closest })], tools));
    assert.match(
      done,
      /An earlier call was refused, and I corrected it: c1 remove "footer": no element matches/,
    );
  });

  test("a refusal without a candidate, or for another reason, is reported", () => {
    for (const text of [
      '<data-a1>\nc1 remove "footer": no element matches.\n</data-a1>',
      "this session was deleted.",
    ])
      assert.match(
        reportOf(plan([...looked(), ...refused(text, { baseRevision: 0, add })], tools)),
        /^The change failed\. /,
      );
  });
});

describe("undo", () => {
  const two = [
    ...begin("make the headline say 'Sale'"),
    ...stored(1, ['c1 setText "h1": 1 element']),
    user("hide the footer and the banner"),
    ...stored(2, [
      'c1 setText "h1": 1 element',
      'c2 remove "footer": 1 element',
      'c3 remove ".banner": 1 element',
    ]),
  ];

  test("drops the changes of the last revision, then the changes of the previous one", () => {
    const prompt = [...two, user("undo that")];
    assert.deepEqual(inputOf(plan(prompt, tools), "apply_variant"), { baseRevision: 2, drop: ["c2", "c3"] });
    prompt.push(...stored(3, ['c1 setText "h1": 1 element'], { drop: ["c2", "c3"] }));
    assert.match(
      reportOf(plan(prompt, tools)),
      /^Stored revision 3 .*\n\n- Took back `c2` \(remove of `footer`\), `c3` \(remove of `\.banner`\)\n/,
    );
    prompt.push(user("undo that"));
    assert.deepEqual(inputOf(plan(prompt, tools), "apply_variant"), { baseRevision: 3, drop: ["c1"] });
    prompt.push(...stored(4, [], { drop: ["c1"] }), user("undo that"));
    assert.match(
      reportOf(plan(prompt, tools)),
      /^There is nothing to take back: my earlier changes are taken back already\./,
    );
  });

  test("everything includes changes of pages that are not open", () => {
    const text =
      'Stored revision 3 of variant main. The live page shows it.\n<data-a1>\nc4 remove "x": 1 element\n</data-a1>\nNot tried, because the live page is another one: c1, c2, c3. check_variant opens their pages.';
    const prompt = [...two, user("hide x"), ...exchange("apply_variant", {}, text), user("undo everything")];
    assert.deepEqual(inputOf(plan(prompt, tools), "apply_variant").drop, ["c1", "c2", "c3", "c4"]);
  });

  test("a change that no longer exists is omitted", () => {
    const input = { baseRevision: 2, drop: ["c2", "c3"] };
    const prompt = [
      ...two,
      user("undo that"),
      ...refused("drop: there is no change c2. The variant has c1, c3.", input),
    ];
    assert.deepEqual(inputOf(plan(prompt, tools), "apply_variant"), { baseRevision: 2, drop: ["c3"] });
  });

  test("without a revision there is nothing to undo", () => {
    assert.match(reportOf(plan(begin("undo that"), tools)), /^There is nothing to take back: no revision/);
  });
});
