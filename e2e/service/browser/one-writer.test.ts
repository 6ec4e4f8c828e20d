import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createRandom } from "#e2e/faults/world/random.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import type { TestClient } from "#lib/api/live/testing.ts";
import { waitUntil } from "../testing.ts";
import { openSite, script } from "../variants/variants-testing.ts";
import { openTwoServices, type TwoServices, watchLive } from "./two-services-testing.ts";

/** Tells its server every text that arrives in its only field, in order. */
const PAGE = `<!doctype html><title>Pad</title><textarea autofocus></textarea><script>
  const field = document.querySelector("textarea");
  let told = Promise.resolve();
  field.addEventListener("input", ({ data }) => {
    field.value = "";
    told = told.then(() => fetch("/told", { method: "POST", body: data }));
  });
</script>`;

/** The agent writes for as long as it may. The texts of a script have its number. */
const write = (nth: number): Step =>
  script(`await page.focus("textarea");
for (let n = 0; n < 400; n += 1) {
  await page.keyboard.insertText("agent ${nth} " + n);
  await page.waitForTimeout(10);
}`);

const INPUTS = 1_000;
const SCRIPTS = 40;

const turns = new Map<string, Step[]>();
let both: TwoServices;
let site: Awaited<ReturnType<typeof openSite>>;
/** What the page has received: who wrote it, in which period of control, and its number there. */
const told: { writer: string; period: number; nth: number }[] = [];

before(async () => {
  site = await openSite(async (request, response) => {
    if (request.url === "/told") {
      const [writer = "", period, nth] = (await text(request)).split(" ");
      told.push({ writer, period: Number(period), nth: Number(nth) });
      response.writeHead(204).end();
    } else response.setHeader("content-type", "text/html").end(PAGE);
  });
  both = await openTwoServices(turns);
});
after(async () => {
  await both?.close();
  site?.close();
});

/** A person who writes all the time, whether or not they have control. */
function createWriter(name: string, client: TestClient) {
  let period = 0;
  let nth = 0;
  return {
    take() {
      period += 1;
      nth = 0;
      client.send({ type: "control.take" });
    },
    giveBack: () => client.send({ type: "control.release" }),
    write() {
      client.send({ type: "input.text", text: `${name} ${period} ${nth}` });
      nth += 1;
    },
  };
}

test("of two people at two processes and the agent, who all write at once, only one reaches the page at a time", async () => {
  turns.set(
    "write all the time",
    Array.from({ length: SCRIPTS }, (_, nth) => write(nth)),
  );
  const [first, second] = both.services;
  const session = await first.create("write all the time", { targetUrl: `${site.url}/` });
  const hasWritten = (writer: string, since: number) => () =>
    told.slice(since).some((each) => each.writer === writer);
  await waitUntil(hasWritten("agent", 0), "the agent writes");
  const ada = createWriter("ada", await watchLive(first, session.sessionId));
  const bob = createWriter("bob", await watchLive(second, session.sessionId));

  const random = createRandom(40, "one writer");
  for (let sent = 0; sent < INPUTS; sent += 2) {
    const choice = random.next();
    if (choice < 0.03) ada.take();
    else if (choice < 0.06) bob.take();
    else if (choice < 0.075) {
      const since = told.length;
      ada.giveBack();
      bob.giveBack();
      await waitUntil(hasWritten("agent", since), "the agent writes again");
    }
    ada.write();
    bob.write();
    await pause(random.between(0, 20));
  }
  ada.giveBack();
  bob.giveBack();
  await first.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
  await first.completed(session.statusUrl);

  const periods = told.map(({ writer, period }) => `${writer} ${period}`);
  const changes = periods.filter((each, at) => each !== periods[at - 1]);
  assert.deepEqual(changes, [...new Set(changes)], "nobody writes after the end of their control");
  for (const [at, { nth }] of told.entries())
    if (periods[at] === periods[at - 1])
      assert.ok(nth > (told[at - 1]?.nth ?? 0), `the texts of "${periods[at]}" are in order`);
  for (const writer of ["ada", "bob", "agent"]) {
    const own = changes.filter((each) => each.startsWith(writer));
    assert.ok(own.length > 1, `${writer} has written in ${own.length} periods: ${changes}`);
  }
});
