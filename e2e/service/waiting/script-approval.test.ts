import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  listVariants,
  openVariantsService,
  playFollowUp,
  playTurn,
  script,
} from "../variants/variants-testing.ts";
import { listItems, onlyItem, settle } from "./inbox-testing.ts";

let opened: Awaited<ReturnType<typeof openVariantsService>>;
before(async () => {
  opened = await openVariantsService((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end('<!doctype html><title>Shop</title><button id="pay">Pay</button>');
  });
});
after(() => opened?.close());

const use = (text: string) =>
  script(
    `return await page.applyVariant([{ op: "setText", selector: "#pay", text: ${JSON.stringify(text)} }])`,
  );
const play = (steps: Parameters<typeof playTurn>[1], more: Record<string, unknown> = {}) =>
  playTurn(opened.service, steps, {
    targetUrl: opened.site.url,
    tools: { approve: ["apply_variant"] },
    interaction: { mode: "ask" },
    ...more,
  });

describe("page.applyVariant, if apply_variant needs approval", () => {
  it("fails with the name of an item, and passes once after its approval, also in a later turn", async () => {
    const { service } = opened;
    const { session, results } = await play([use("Buy"), use("Buy")]);
    const item = await onlyItem(service, session);
    assert.deepEqual(
      [item.kind, item.state, item.title],
      ["approval", "open", "Approve apply_variant in a script"],
    );
    assert.equal(item.call?.toolName, "apply_variant");
    assert.match(JSON.stringify(item.call?.input), /"selector":"#pay".*"text":"Buy"/);
    for (const result of results) assert.ok(result.includes(item.id), result);
    assert.deepEqual(await listVariants(service, session.sessionId), []);

    assert.equal((await settle(service, session, item.id, { approve: true })).status, 200);
    // Another call needs its own approval.
    const [other = "", passed = "", again = ""] = await playFollowUp(service, session.sessionId, [
      use("Order"),
      use("Buy"),
      use("Buy"),
    ]);
    assert.match(other, /nothing was changed/);
    assert.match(passed, /"revision": ?1/);
    assert.match(again, /nothing was changed/);
    assert.equal((await listVariants(service, session.sessionId)).length, 1);
    const open = await listItems(service, session, "?state=open");
    assert.equal(open.length, 2);
    assert.ok(!open.some(({ id }) => id === item.id));
  });

  it("stays denied, and opens no item where no person can be asked", async () => {
    const { service } = opened;
    const { session } = await play([use("Buy")]);
    const { id } = await onlyItem(service, session);
    await settle(service, session, id, { deny: true, reason: "Not today" });
    const [denied = ""] = await playFollowUp(service, session.sessionId, [use("Buy")]);
    assert.match(denied, /a person denied the call, with the reason: Not today/);
    assert.equal((await listItems(service, session)).length, 1);

    const silent = await play([use("Buy")], { interaction: { mode: "decline" } });
    assert.match(silent.results[0] ?? "", /nothing was changed[\s\S]*no person can be asked/);
    assert.deepEqual(await listItems(service, silent.session), []);
  });
});
