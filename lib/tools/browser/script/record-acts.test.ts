import assert from "node:assert/strict";
import { test } from "node:test";
import { nameTarget } from "./name-target.ts";
import { createActRecorder, describeActs } from "./record-acts.ts";

const NO_REF = () => undefined;

test("an element is named by its name, label, text, or else by its selector", () => {
  const name = (selector: string) => nameTarget(selector, NO_REF);
  assert.equal(name('internal:role=button[name="Add to cart"i]'), "Add to cart");
  assert.equal(name("internal:role=button"), "button");
  assert.equal(name('internal:label="Email"i'), "Email");
  assert.equal(name('internal:text="Thank \\"you\\""s'), 'Thank "you"');
  assert.equal(name('internal:attr=[placeholder="Your name"i]'), "Your name");
  assert.equal(name('internal:testid=[data-testid="cart"s]'), "cart");
  assert.equal(name('form >> internal:role=button[name="Buy"i] >> nth=0'), "Buy");
  assert.equal(name("text=Sign in"), "Sign in");
  assert.equal(name("#email"), "#email");
  assert.equal(name("nth=0"), null);
});

test("the element of a ref is named as the snapshot shows it", () => {
  const name = (described: string | undefined) => nameTarget("ref=e7 >> nth=0", () => described);
  assert.equal(name('button "Add to cart"'), "Add to cart");
  assert.equal(name("textbox"), "textbox");
  assert.equal(name(undefined), null);
});

test("names have at most 120 characters", () =>
  assert.ok((nameTarget(`text=${"a".repeat(500)}`, NO_REF) ?? "").length <= 121));

test("only calls that succeeded count, in order, and repeated ones once", () => {
  const recorder = createActRecorder();
  const call = (id: number, isDone: boolean, selector: string, method = "click") => {
    recorder.begin(id, { method, selector });
    recorder.end(id, isDone);
  };
  call(1, true, "text=One");
  call(2, false, "text=Two");
  call(3, true, "text=Three");
  call(4, true, "text=Three");
  call(5, true, "text=Four", "evaluate");
  assert.deepEqual(describeActs(recorder.list(), NO_REF), [
    { did: "clicked", what: "One" },
    { did: "clicked", what: "Three" },
  ]);
});

test("at most 20 actions are kept", () => {
  const recorder = createActRecorder();
  for (let id = 0; id < 100; id++) {
    recorder.begin(id, { method: "click", selector: `text=${id}` });
    recorder.end(id, true);
  }
  assert.equal(recorder.list().length, 20);
});

test("an address loses its query and fragment, which may contain secrets", () => {
  const opened = (url: string) => describeActs([{ method: "goto", url }], NO_REF)[0]?.what;
  assert.equal(opened("https://shop.example/a?token=s#t"), "https://shop.example/a");
  assert.equal(opened("about:blank#x"), "about:blank");
});
