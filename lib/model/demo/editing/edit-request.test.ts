import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readEditRequest } from "./edit-request.ts";

/** Reads the edits of a message in short form: `setText the headline: Winter sale`. */
function editsOf(message: string): string[] {
  return (readEditRequest(message)?.edits ?? []).map((edit) => {
    const { kind, target } = edit;
    const which = target.which === 0 ? "" : ` [${target.which}]`;
    const head = `${kind} ${target.words}${which}`;
    if (kind === "setStyle") {
      const { styles, ...colors } = edit.look;
      return `${head}: ${JSON.stringify({ ...colors, ...styles }).replace(/"/g, "")}`;
    }
    if (kind === "remove") return head;
    return `${head}: ${kind === "insert" ? `${edit.position} ` : ""}${edit.text}`;
  });
}

const EDITS: Record<string, string[]> = {
  // Texts.
  "make the headline say 'Winter sale'": ["setText the headline: Winter sale"],
  "Make the headline say Winter sale.": ["setText the headline: Winter sale"],
  'Please change the heading to "Hello; world, and more"': ["setText the heading: Hello; world, and more"],
  "Set the title of the page to “Welcome”": ["setText the title of the page: Welcome"],
  "can you make the headline read ‘It’s winter’?": ["setText the headline: It’s winter"],
  "Could you please update the headline to say Hello?": ["setText the headline: Hello"],
  "I'd like the headline to say 'Hi there'": ["setText the headline: Hi there"],
  "the headline should say 'Hi'": ["setText the headline: Hi"],
  "make the headline 'Don't panic'": ["setText the headline: Don't panic"],
  "rename the button 'Add to cart' to 'Buy now'": ["setText the button “Add to cart”: Buy now"],
  "rename the 'Add to cart' button to 'Buy now'": ["setText the “Add to cart” button: Buy now"],
  "rename all 'Add to cart' buttons to 'Buy now'": ["setText all “Add to cart” buttons [all]: Buy now"],
  "change the button labelled 'Pay' to 'Pay now'": ["setText the button labelled “Pay”: Pay now"],
  "change the text of the button 'Pay' to 'Pay now'": ["setText the text of the button “Pay”: Pay now"],
  "replace the text 'X' with 'Y'": ["replaceText the text “X”: Y"],
  "replace `old words` by `new words`": ["replaceText “old words”: new words"],
  "change 'X' to 'Y'": ["replaceText “X”: Y"],
  "replace the headline with 'Sale'": ["setText the headline: Sale"],
  "change the headline from 'A' to 'B'": ["setText the headline “A”: B"],
  "change the second heading to 'Two'": ["setText the second heading [1]: Two"],
  "set #pay to 'Now'": ["setText #pay: Now"],
  "set the headline to 'Hide the banner and make it red'": [
    "setText the headline: Hide the banner and make it red",
  ],
  // Removals.
  "hide the banner": ["remove the banner"],
  "get rid of the newsletter box": ["remove the newsletter box"],
  "Remove the notice and the footer.": ["remove the notice", "remove the footer"],
  "take the banner away": ["remove the banner"],
  "make the banner disappear": ["remove the banner"],
  "the banner should go": ["remove the banner"],
  "don't show the banner": ["remove the banner"],
  'delete the element ".notice"': ["remove the element “.notice”"],
  // Styles.
  "change the button colour to green": ["setStyle the button colour [all]: {color:green}"],
  "change the button color to #0a7": ["setStyle the button color [all]: {color:#0a7}"],
  "make the buttons red": ["setStyle the buttons [all]: {color:red}"],
  "turn all links dark green": ["setStyle all links [all]: {color:darkgreen}"],
  "make the headline bigger and bold": ["setStyle the headline: {zoom:1.25,font-weight:bold}"],
  "make the headline and the notice bold": [
    "setStyle the headline: {font-weight:bold}",
    "setStyle the notice: {font-weight:bold}",
  ],
  "make the headline bold and the buttons red": [
    "setStyle the headline: {font-weight:bold}",
    "setStyle the buttons [all]: {color:red}",
  ],
  "set the background of the headline to yellow": ["setStyle the background of the headline: {color:yellow}"],
  "give the banner a yellow background": ["setStyle the banner: {background:yellow}"],
  "make the banner white on navy": ["setStyle the banner: {textColor:white,background:navy}"],
  "change the headline's colour to navy": ["setStyle the headline's colour: {color:navy}"],
  "set the font size of the headline to 40px": ["setStyle the font size of the headline: {font-size:40px}"],
  "The headline should be red": ["setStyle The headline: {color:red}"],
  "underline the price": ["setStyle the price: {text-decoration:underline}"],
  // New elements.
  "add a note 'Free returns' below the price": ["insert the price: after Free returns"],
  "add a note saying Free returns under the headline": ["insert the headline: after Free returns"],
  "put the text 'Sale ends today' above the headline": ["insert the headline: before Sale ends today"],
  "insert 'Made here' at the end of the footer": ["insert the footer: end Made here"],
  "below the summary, add a line 'Ships tomorrow'": ["insert the summary: after Ships tomorrow"],
  "add a note 'Sale' at the top of the page": ["insert the page: start Sale"],
  "make the page background light blue": ["setStyle the page background: {color:lightblue}"],
  "the first heading should be red": ["setStyle the first heading: {color:red}"],
  // Several edits in one message.
  "Make the headline say 'Winter sale' and hide the banner": [
    "setText the headline: Winter sale",
    "remove the banner",
  ],
  "hide the banner, make the buttons green; add a note 'Hi' below the headline": [
    "remove the banner",
    "setStyle the buttons [all]: {color:green}",
    "insert the headline: after Hi",
  ],
  "rename the button 'Pay' to 'Pay now', then make it green": [
    "setText the button “Pay”: Pay now",
    "setStyle the button “Pay”: {color:green}",
  ],
  "Look at the page. What does the headline say? Make the buttons red!": [
    "setStyle the buttons [all]: {color:red}",
  ],
};

describe("requests for changes", () => {
  for (const [message, edits] of Object.entries(EDITS))
    test(message, () => {
      assert.deepEqual(editsOf(message), edits);
    });
});

describe("messages that do not ask for a change", () => {
  for (const message of [
    "what does the headline say?",
    "What is the title of this page, and which buttons does it have?",
    "How do I change the heading to 'X'?",
    "Which buttons can I remove?",
    "Should we hide the banner?",
    "Is the banner hidden?",
    "If I remove the banner and hide the notice, what happens?",
    "Tell me how to hide the banner and change the headline to 'X'.",
    "Explain what happens when I rename the button 'A' to 'B'",
    "Suggest a better headline and change the wording to 'X'",
    "Don't change anything, just list the links.",
    "look at this page and tell me what its checkout asks for",
    "make a screenshot",
    "take a screenshot of the page",
    "make a list of the headings",
    "add the brass pen to the cart",
    "put two pens in the cart",
    "add up the prices",
    "show me the headline",
    "compare /demo with /demo/cart.html",
    "open https://shop.example/remove-the-banner and list its links",
    "hello there",
    "'hide the banner'",
    "",
  ])
    test(message, () => {
      assert.equal(readEditRequest(message), undefined);
    });
});

test("requests to undo are read", () => {
  for (const message of [
    "undo that",
    "Undo.",
    "please undo the last change",
    "take that back",
    "revert it",
    "roll back your last edits",
    "put it back as it was",
    "Can you undo that?",
  ])
    assert.equal(readEditRequest(message)?.undo, "last", message);
  for (const message of ["undo everything", "revert all changes", "take everything back"])
    assert.equal(readEditRequest(message)?.undo, "all", message);
  assert.deepEqual(editsOf("undo that and make the headline red"), ["setStyle the headline: {color:red}"]);
  assert.equal(readEditRequest("undo that and make the headline red")?.undo, "last");
});

test("parts that the rules do not understand are listed, and never applied", () => {
  const request = readEditRequest("hide the banner; make the headline sparkle. Which links are there?");
  assert.deepEqual(request?.leftOut, ["make the headline sparkle", "Which links are there?"]);
  for (const message of [
    "make the headline sparkle",
    "remove the pen from the cart",
    "change everything",
    "remove the page",
  ]) {
    const { edits, leftOut } = readEditRequest(message) ?? {};
    assert.deepEqual({ edits, leftOut }, { edits: [], leftOut: [message] });
  }
});

test("the page of a request is read, but not from quoted texts", () => {
  const urlOf = (message: string) => readEditRequest(message)?.url;
  assert.equal(urlOf("open https://s.example/a?b=1, then hide the banner"), "https://s.example/a?b=1");
  assert.equal(urlOf("On https://s.example/ make the headline say 'Hi'"), "https://s.example/");
  assert.equal(urlOf("make the headline say 'See https://s.example/'"), undefined);
  const placeOf = (message: string) => readEditRequest(message)?.place;
  assert.equal(placeOf("On the checkout page, rename the button 'A' to 'B'"), "checkout");
  assert.equal(placeOf("rename the button 'A' to 'B' on the Brass Pen page"), "Brass Pen");
  assert.equal(placeOf("open the cart and change the headline to Basket"), "cart");
  assert.equal(placeOf("hide the banner on this page"), undefined);
  assert.equal(placeOf("rename the button 'Add to cart' to 'Buy'"), undefined);
});

test("the number of edits is limited, and the rest is listed", () => {
  const message = Array.from({ length: 15 }, (_, index) => `set the headline to 'T${index}'`).join("; ");
  const { edits, leftOut } = readEditRequest(message) ?? {};
  assert.equal(edits?.length, 12);
  assert.deepEqual(
    leftOut,
    [12, 13, 14].map((index) => `set the headline to “T${index}”`),
  );
});

test("hostile messages are read in bounded time", () => {
  const before = process.threadCpuUsage();
  for (const piece of [
    "'",
    "'a",
    '"',
    "“",
    " ",
    " and",
    ",",
    "make the a ",
    "add a note below ",
    "on the a ",
  ])
    readEditRequest(piece.repeat(20_000));
  readEditRequest(`make ${"the x ".repeat(98)}`);
  assert.ok(process.threadCpuUsage(before).user < 1_000_000);
});

test("a clause that asks to check the change is no part that was left out, because every edit is checked", () => {
  for (const clause of ["check the change", "verify it", "check", "prove your edits."]) {
    const request = readEditRequest(`Change the heading to "Half the price" and ${clause}`);
    assert.deepEqual([request?.edits.length, request?.leftOut], [1, []], clause);
  }
  const { leftOut } = readEditRequest('Change the heading to "Half the price" and check the stock') ?? {};
  assert.deepEqual(leftOut, ["check the stock"]);
});
