import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import type { RecordedRequest } from "#e2e/fixtures/scripted-model/types.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { setMode } from "../planning/planning-testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { apply, playFollowUp, playTurn, script, step } from "../variants/variants-testing.ts";

const site = createServer((request, response) => {
  response.setHeader("content-type", "text/html");
  response.end(`<!doctype html><title>Shop</title><h1>Page ${request.url}</h1><button id="pay">Pay</button>`);
});
let service: TestService;
let origin = "";
before(async () => {
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  service = await openTestService({
    SANDBOX: "unconfined",
    BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath,
  });
});
after(async () => {
  await service.close();
  site.close();
});

/** The model calls since `from` that have tools. */
const turnsSince = (from: number): RecordedRequest[] =>
  service.model.requests.slice(from).filter(({ kind }) => kind === "turn");

/** Requires that each request begins with the bytes of the request before it: tools, instructions and messages. */
function requireSameBeginning(requests: readonly RecordedRequest[]) {
  assert.ok(requests.length > 1);
  for (const [index, { body }] of requests.entries()) {
    const before = requests[index - 1]?.body;
    if (!before) continue;
    assert.equal(JSON.stringify(body.tools), JSON.stringify(before.tools), `tools of request ${index}`);
    const [earlier, later] = [before.input as unknown[], body.input as unknown[]];
    for (const [position, item] of earlier.entries())
      assert.equal(
        JSON.stringify(later[position]),
        JSON.stringify(item),
        `item ${position} of request ${index}`,
      );
    assert.ok(later.length > earlier.length);
  }
}

describe("the prompts of a session", () => {
  it("begin with the prompt before them, although pages, variants, plan and requirements change", async () => {
    const from = service.model.requests.length;
    const pay = { op: "setText", selector: "#pay", text: "Pay now" };
    const { session } = await playTurn(
      service,
      [
        step("dom_query"),
        { toolCalls: [apply({ baseRevision: 0, add: [pay] })] },
        step("add_requirements", { requirements: [{ text: "The button reads Pay now" }] }),
        script(`await page.goto("${origin}/second"); return await page.title();`),
      ],
      { targetUrl: `${origin}/first` },
    );
    const { sessionId } = session;
    await playFollowUp(service, sessionId, [step("screenshot"), step("update_plan", { items: [] })]);
    await service.call("POST", `/api/sessions/${sessionId}/browser`, { url: `${origin}/third` });
    await setMode(service, sessionId, "plan_first");
    await playFollowUp(service, sessionId, [step("dom_query"), step("list_requirements")]);
    const requests = turnsSince(from);
    requireSameBeginning(requests);
    const last = requests.at(-1)?.text ?? "";
    for (const said of [
      /Target page: \S+\/first/,
      /Target page: \S+\/third/,
      /- Variant main has revision 1, not checked\./,
      /- r1 \[open\] The button reads Pay now/,
      /Plan first: a person wants to agree/,
    ])
      assert.match(last, said);
  });

  it("say the state only when it has changed, and only the newest one counts", async () => {
    const from = service.model.requests.length;
    const { session } = await playTurn(service, []);
    await playFollowUp(service, session.sessionId, []);
    await playFollowUp(service, session.sessionId, []);
    const requests = turnsSince(from);
    requireSameBeginning(requests);
    assert.equal(requests.at(-1)?.text.match(/At the start of this turn/g)?.length, 1);
  });

  it("hide old pictures several at a time", async () => {
    const from = service.model.requests.length;
    await playTurn(
      service,
      Array.from({ length: 10 }, () => step("screenshot")),
      { targetUrl: `${origin}/pictures` },
    );
    const requests = turnsSince(from);
    // The ninth picture hides four.
    requireSameBeginning(requests.slice(0, 9));
    requireSameBeginning(requests.slice(9));
    const pictures = requests.map(
      ({ body }) => JSON.stringify(body.input).match(/"input_image"/g)?.length ?? 0,
    );
    assert.deepEqual(pictures, [0, 1, 2, 3, 4, 5, 6, 7, 8, 5, 6]);
  });
});
