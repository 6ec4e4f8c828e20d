import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { waitFor } from "../testing.ts";
import { openStageBench, type StageBench } from "./stage-testing.ts";

const button = (script: string) =>
  `<button class=c>Go</button><script nonce=own>document.querySelector("button").onclick = () => { ${script} }</script>`;

const PAGES: Record<string, string> = {
  "/blank": "<title>Blank</title>",
  "/alert": button(`alert("hello"); seen.push("after")`),
  "/confirm": button(`seen.push(confirm("sure?"))`),
  "/prompt": button(`seen.push(prompt("name?", "Ada"))`),
  "/flood": button(`for (let n = 0; n < 12; n += 1) seen.push(confirm("again " + n))`),
  "/leave": `<title>Leave</title><input class=c><script nonce=own>onbeforeunload = (event) => event.preventDefault()</script>`,
  "/framed": `<iframe src="http://localhost:PORT/confirm" width=400 height=200></iframe>`,
  "/file": `<input class=c type=file multiple accept=".txt"><script nonce=own>
    const input = document.querySelector("input");
    for (const type of ["input", "change", "cancel"]) input.addEventListener(type, async () =>
      seen.push(type + " " + (await Promise.all([...input.files].map(async (f) => [f.name, f.type, await f.text()].join(":")))).join()))
    </script>`,
  "/library": `<x-drop></x-drop><script nonce=own>
    const root = document.querySelector("x-drop").attachShadow({ mode: "closed" });
    const input = document.createElement("input"); input.type = "file"; input.hidden = true;
    const button = document.createElement("button"); button.textContent = "Upload";
    button.style.cssText = "position:absolute;left:20px;top:20px;width:200px;height:30px";
    button.onclick = () => input.click(); root.append(input, button);
    input.onchange = async () => seen.push(input.files[0].name + ":" + await input.files[0].text());</script>`,
  "/framed-file": `<iframe src="http://localhost:PORT/file" width=400 height=200></iframe>`,
  "/opener": `<title>Opener</title>${button(`open("/popup")`)}`,
  "/popup": "<title>Popup</title>",
};

let bench: StageBench;

before(async () => {
  bench = await openStageBench(PAGES, { personMsMax: { beforeunload: 60_000, other: 60_000 } });
  bench.control.set("con_a");
});
after(() => bench.close());

const sees = (expected: unknown[], url?: string) =>
  waitFor(
    async () => JSON.stringify(await bench.seen(url)) === JSON.stringify(expected),
    JSON.stringify(expected),
  );

test("an alert waits for the person, and the page continues after the answer", async () => {
  await bench.open("/alert");
  await bench.click(60, 35);
  const { id, ...widget } = await bench.widget("dialog");
  assert.deepEqual(widget, {
    kind: "dialog",
    dialog: "alert",
    host: `127.0.0.1:${bench.site.port}`,
    message: "hello",
    defaultText: "",
    mayMute: false,
  });
  assert.deepEqual(await bench.answer(id, { kind: "dialog", isAccepted: true }), { isDone: true });
  await sees(["after"]);
  await bench.noWidget();
  assert.equal((await bench.answer(id, { kind: "dialog", isAccepted: true })).isDone, false);
});

test("confirm returns the person's answer, also in a frame of another site", async () => {
  for (const [path, url, y] of [
    ["/confirm", "/confirm", 35],
    ["/framed", "localhost", 40],
  ] as const) {
    await bench.open(path);
    for (const isAccepted of [true, false]) {
      await bench.click(60, y);
      const { id } = await bench.widget("dialog");
      await bench.answer(id, { kind: "dialog", isAccepted });
      await bench.noWidget();
    }
    await sees([true, false], url);
  }
});

test("prompt returns the person's text, or null", async () => {
  await bench.open("/prompt");
  await bench.click(60, 35);
  const first = await bench.widget("dialog");
  assert.deepEqual([first.dialog, first.defaultText], ["prompt", "Ada"]);
  await bench.answer(first.id, { kind: "dialog", isAccepted: true, text: "Grüße" });
  await bench.noWidget();
  await bench.click(60, 35);
  await bench.answer((await bench.widget("dialog")).id, { kind: "cancel" });
  await sees(["Grüße", null]);
});

test("beforeunload asks the person: the page stays or is left", async () => {
  const page = await bench.open("/leave");
  await bench.click(60, 35);
  await bench.press("x");
  const leave = () => bench.browsers.navigate(bench.sessionId, `${bench.site.origin}/blank`);
  const staying = leave();
  const first = await bench.widget("dialog");
  assert.equal(first.dialog, "beforeunload");
  await bench.answer(first.id, { kind: "dialog", isAccepted: false });
  assert.deepEqual(await staying, { landed: false, reason: "the navigation was interrupted" });
  assert.equal(await page.title(), "Leave");
  await bench.noWidget();
  assert.equal(bench.state()?.failure, null);
  const leaving = leave();
  await bench.answer((await bench.widget("dialog")).id, { kind: "dialog", isAccepted: true });
  assert.deepEqual(await leaving, { landed: true, url: `${bench.site.origin}/blank` });
});

test("dialogs get the answers of today without a person, when control ends, when no viewer is left", async () => {
  await bench.open("/confirm");
  bench.control.set(undefined);
  await bench.click(60, 35);
  await sees([false]);
  bench.control.set("con_a");
  await bench.click(60, 35);
  await bench.widget("dialog");
  bench.control.set(undefined);
  await sees([false, false]);
  bench.control.set("con_a");
  await bench.click(60, 35);
  await bench.widget("dialog");
  bench.stopWatching();
  await sees([false, false, false]);
  bench.watch();
});

test("a page that asks on and on is answered without the person, and can be muted", async () => {
  await bench.open("/flood");
  await bench.click(60, 35);
  const first = await bench.widget("dialog");
  assert.equal(first.mayMute, false);
  await bench.answer(first.id, { kind: "dialog", isAccepted: true });
  const second = await bench.widgetThat((each) => each.kind === "dialog" && each.id !== first.id);
  assert.equal(second.kind === "dialog" && second.mayMute, true);
  await bench.answer(second.id, { kind: "dialog", isAccepted: true, isMuted: true });
  await sees([true, true, ...Array.from({ length: 10 }, () => false)]);
});

test("files of a person reach the page with their names, types and bytes, also in frames and shadow roots", async () => {
  for (const [path, url, y] of [
    ["/file", "/file", 35],
    ["/framed-file", "localhost", 40],
  ] as const) {
    await bench.open(path);
    await bench.click(60, y);
    const { id, isMultiple, accept } = await bench.widget("files");
    assert.deepEqual([isMultiple, accept], [true, ".txt"]);
    const add = (name: string, text: string, mediaType = "text/plain") =>
      bench.browsers.act(bench.sessionId, {
        type: "addFile",
        widgetId: id,
        file: { name, mediaType, bytes: new TextEncoder().encode(text) },
      });
    assert.deepEqual(await add("a.txt", "Grüße"), { isDone: true });
    assert.equal((await add("../b.txt", "no")).isDone, false);
    assert.equal((await add("b.txt", "x".repeat(10 * 2 ** 20 + 1))).isDone, false);
    assert.deepEqual(await add("c.csv", "1,2", "text/csv"), { isDone: true });
    await bench.widgetThat((each) => each.kind === "files" && each.files.length === 2);
    assert.deepEqual(await bench.answer(id, { kind: "files" }), { isDone: true });
    const given = "a.txt:text/plain:Grüße,c.csv:text/csv:1,2";
    await sees([`input ${given}`, `change ${given}`], url);
  }
  await bench.open("/library");
  await bench.click(60, 35);
  const { id } = await bench.widget("files");
  await bench.browsers.act(bench.sessionId, {
    type: "addFile",
    widgetId: id,
    file: { name: "x.bin", mediaType: "application/octet-stream", bytes: new TextEncoder().encode("1") },
  });
  await bench.answer(id, { kind: "files" });
  await sees(["x.bin:1"]);
});

test("a cancelled file chooser gives nothing, and can be opened again", async () => {
  await bench.open("/file");
  for (let round = 0; round < 2; round += 1) {
    await bench.click(60, 35);
    const { id } = await bench.widget("files");
    assert.deepEqual(await bench.answer(id, { kind: "cancel" }), { isDone: true });
    await bench.noWidget();
  }
  assert.deepEqual(await bench.seen(), []);
});

test("a popup of a person's click is shown as a tab; the opener can be shown, and comes back", async () => {
  await bench.open("/opener");
  await bench.click(60, 35);
  const tabs = () => bench.state()?.tabs.map(({ title, isShown }) => [title, isShown]);
  const shows = (expected: unknown) =>
    waitFor(() => JSON.stringify(tabs()) === JSON.stringify(expected), JSON.stringify(expected));
  await shows([
    ["Opener", false],
    ["Popup", true],
  ]);
  const [opener, popup] = bench.state()?.tabs ?? [];
  assert.ok(opener && popup);
  const act = (type: "showTab" | "closeTab", tabId: string) =>
    bench.browsers.act(bench.sessionId, { type, tabId });
  assert.deepEqual(await act("showTab", opener.id), { isDone: true });
  await shows([
    ["Opener", true],
    ["Popup", false],
  ]);
  assert.equal(await (await bench.page()).title(), "Opener");
  await act("showTab", popup.id);
  assert.equal(await (await bench.page()).title(), "Popup");
  assert.deepEqual(await act("closeTab", popup.id), { isDone: true });
  await shows([["Opener", true]]);
  assert.equal(await (await bench.page()).title(), "Opener");
  assert.deepEqual(await act("closeTab", opener.id), {
    isDone: false,
    reason: "the last tab cannot be closed",
  });
  assert.equal((await act("showTab", popup.id)).isDone, false);
});

test("a load can be stopped, and a failed one is explained until a page is shown", async () => {
  await bench.open("/blank");
  const go = (url: string) => bench.browsers.navigate(bench.sessionId, url);
  const failed = (kind: string) =>
    waitFor(() => {
      const { failure } = bench.state() ?? {};
      return failure?.kind === kind ? failure : undefined;
    }, kind);
  await go("http://10.0.0.1/secret");
  assert.equal((await failed("refused")).url, "http://10.0.0.1/secret");
  await go("http://nowhere.invalid/");
  await failed("name");
  await bench.open("/blank");
  await waitFor(() => bench.state()?.failure === null, "no failure");
});
