import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { after, before, beforeEach, describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { CDPSession } from "playwright";
import type { BrowserInput, PastedItem } from "../browser-service.ts";
import { waitFor } from "../testing.ts";
import { openInputRig } from "./input-testing.ts";
import { createPageClipboard } from "./page-clipboard.ts";

let rig: Awaited<ReturnType<typeof openInputRig>>;
before(async () => {
  rig = await openInputRig();
});
after(() => rig.close());
beforeEach(() => rig.open());

const copy = (action: "copy" | "cut" = "copy") => rig.browsers.copy(rig.sessionId, action);
const paste = (...items: PastedItem[]) => rig.browsers.paste(rig.sessionId, items);
const text = (value: string): PastedItem => ({ kind: "text", type: "text/plain", text: value });
const html = (value: string): PastedItem => ({ kind: "text", type: "text/html", text: value });

describe("copying out of a page", () => {
  test("returns the selected text and its HTML; the page gets the keys and one event", async () => {
    await rig.read("getSelection().selectAllChildren(document.getElementById('text'))");
    assert.deepEqual(await copy(), {
      text: "hello selectable words",
      html: "hello <b>selectable</b> words",
    });
    assert.deepEqual(await rig.takeLog(), ["keydown Ctrl+c", "copy", "keyup c"]);
  });

  test("cuts what is selected in a field, and undo brings it back", async () => {
    await rig.click({ x: 60, y: 260 });
    await rig.send({ type: "text", text: "keep this" });
    await rig.read("field.setSelectionRange(4, 9)");
    assert.deepEqual(await copy("cut"), { text: " this", html: null });
    assert.equal(await rig.read("field.value"), "keep");
    await rig.send({ type: "key", action: "down", key: "z", code: "KeyZ", modifiers: 2 });
    assert.equal(await rig.read("field.value"), "keep this");
  });

  test("a page decides what is copied", async () => {
    await rig.read(`document.addEventListener("copy", (event) => {
      event.clipboardData.setData("text/plain", "from the page");
      event.clipboardData.setData("text/html", "<i>from the page</i>");
      event.preventDefault();
    })`);
    assert.deepEqual(await copy(), { text: "from the page", html: "<i>from the page</i>" });
  });

  test("a page cannot offer anything without a press of the keys, nor keep the listener", async () => {
    await rig.read("getSelection().selectAllChildren(document.getElementById('text'))");
    await copy();
    await rig.read("document.execCommand('copy')");
    await rig.read("getSelection().removeAllRanges()");
    assert.equal(await copy(), null);
  });

  test("what is in password fields is neither copied nor cut, and too much text is not copied", async () => {
    await rig.read(`field.outerHTML = "<input id=secret type=password value=secret>";
      secret.focus(); secret.select(); undefined`);
    assert.equal(await copy("cut"), null);
    assert.equal(await rig.read("secret.value"), "secret");
    await rig.read(`document.addEventListener("copy", (event) => {
      event.clipboardData.setData("text/plain", "x".repeat(1_000_001));
      event.preventDefault();
    })`);
    assert.equal(await copy(), null);
  });

  test("what one page copies is not in the Chromium's clipboard", async () => {
    await rig.read(
      "document.execCommand('copy'); field.value = 'private'; field.focus(); field.select(); undefined",
    );
    assert.equal((await copy())?.text, "private");
    await rig.send(
      { type: "key", action: "down", key: "ArrowRight", code: "ArrowRight", modifiers: 0 },
      { type: "key", action: "down", key: "v", code: "KeyV", modifiers: 2 },
    );
    assert.doesNotMatch(await rig.read<string>("field.value.slice(7)"), /private/);
  });

  test("copies in frames, also of another site", async () => {
    await rig.open("/frame");
    const live = await rig.browsers.ensure(rig.sessionId);
    const inner = await live.page().waitForSelector("#frame");
    const frame = await inner.contentFrame();
    assert.ok(frame);
    await frame.waitForSelector("#text");
    await rig.drag({ x: 41, y: 392 }, { x: 41 + 12 * 5, y: 392 });
    assert.equal(await frame.evaluate("getSelection().toString()"), "hello");
    assert.equal((await copy())?.text, "hello");
    await rig.click({ x: 80, y: 392 });
    await frame.evaluate("field.focus()");
    assert.deepEqual(await paste(text("in the frame")), { isDone: true });
    assert.equal(await frame.evaluate("field.value"), "in the frame");
  });
});

describe("pasting into a page", () => {
  test("the page gets an event with text, HTML and files, with their bytes", async () => {
    await rig.read(`document.addEventListener("paste", async (event) => {
      const [file] = event.clipboardData.files;
      event.preventDefault();
      log.push(event.clipboardData.getData("text/plain") + "|" + event.clipboardData.getData("text/html"));
      log.push([...new Uint8Array(await file.arrayBuffer())].join());
    })`);
    await paste(text("plain"), html("<b>rich</b>"), {
      kind: "file",
      type: "image/png",
      name: "image.png",
      bytes: new Uint8Array([137, 80, 78, 71, 0, 255]),
    });
    await waitFor(() => rig.read<boolean>("log.length === 3"), "the bytes of the file");
    assert.deepEqual(await rig.takeLog(), [
      "paste Files,text/html,text/plain image/png image.png 6",
      "plain|<b>rich</b>",
      "137,80,78,71,0,255",
    ]);
  });

  test("text goes into a field, unless the page handles it", async () => {
    await rig.click({ x: 60, y: 260 });
    await paste(text("two\nlines"));
    assert.equal(await rig.read("field.value"), "two\nlines");
    await rig.read("document.addEventListener('paste', (event) => event.preventDefault())");
    await paste(text("not this"));
    assert.equal(await rig.read("field.value"), "two\nlines");
  });

  test("HTML keeps its formatting where text can have some, and loses its scripts", async () => {
    await rig.click({ x: 420, y: 260 });
    await paste(
      text("bold"),
      html("<b>bold</b><img src=x onerror='log.push(\"run\")'><script>log.push('run')</script>"),
    );
    const content = await rig.read<string>("rich.innerHTML");
    assert.match(content, /<b[^>]*>bold<\/b>/);
    assert.doesNotMatch(content, /onerror|script/);
    assert.ok(!(await rig.takeLog()).includes("run"));
  });

  test("what is typed after a paste comes after it", async () => {
    await rig.click({ x: 60, y: 260 });
    const pasted = paste(text("pasted "));
    await rig.send({ type: "text", text: "typed" });
    await pasted;
    assert.equal(await rig.read("field.value"), "pasted typed");
  });

  test("clicks, keys, a paste and a cut that are sent at once keep their order", async () => {
    const at = { x: 60, y: 260 };
    const press = (action: "down" | "up"): BrowserInput => ({
      type: "key",
      action,
      key: "a",
      code: "KeyA",
      modifiers: 2,
    });
    const [, , , pasted, , , cut] = await Promise.all([
      ...[rig.mouse("move", at), rig.mouse("down", at), rig.mouse("up", at)].map((input) => rig.send(input)),
      paste(text("pasted")),
      rig.send(press("down")),
      rig.send(press("up")),
      rig.browsers.copy(rig.sessionId, "cut"),
      rig.send({ type: "text", text: "typed" }),
    ]);
    assert.deepEqual([pasted, cut], [{ isDone: true }, { text: "pasted", html: null }]);
    assert.equal(await rig.read("field.value"), "typed");
  });

  test("the page handles the input before a paste first", async () => {
    const order: string[] = [];
    const handled = Promise.withResolvers<void>();
    const page = {
      async send(method: string) {
        order.push(method);
        throw new Error("There is no page.");
      },
    };
    const clipboard = createPageClipboard(page as unknown as CDPSession, {
      mainFrameId: () => "main",
      openDevtools: () => Promise.reject(new Error("there are no frames")),
      push: () => handled.promise.then(() => void order.push("handled")),
      isCommenting: () => false,
    });
    const click = clipboard.push({ type: "text", text: "typed" }, () => true);
    const pasted = clipboard.paste([text("pasted")]);
    await setImmediate();
    assert.deepEqual(order, []);
    handled.resolve();
    await Promise.all([click, pasted]);
    assert.deepEqual(order, ["handled", "Page.createIsolatedWorld"]);
  });

  test("a page that does not take it is a refusal with the reason", async () => {
    const lost = Object.assign(new EventEmitter(), {
      send: async () => {
        throw new Error("Execution context was destroyed.");
      },
      detach: async () => {},
    });
    const clipboard = createPageClipboard(lost as unknown as CDPSession, {
      mainFrameId: () => "main",
      openDevtools: () => Promise.reject(new Error("there are no frames")),
      push: async () => {},
      isCommenting: () => false,
    });
    assert.deepEqual(await clipboard.paste([text("lost")]), {
      isDone: false,
      reason: "the page did not take what was pasted: Execution context was destroyed.",
    });
  });
});
