import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { listVariants, openVariantsService, playTurn, readRevision, step } from "./variants-testing.ts";

let opened: Awaited<ReturnType<typeof openVariantsService>>;
let service: TestService;
let site: { url: string };

before(async () => {
  opened = await openVariantsService((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(
      `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Shop</title>
       <main><h1>Shop</h1><button id="pay">Pay</button></main></html>`,
    );
  });
  ({ service, site } = opened);
});
after(() => opened.close());

const payNow = { op: "setText", selector: "#pay", text: "Pay now" };

describe("check_variant", () => {
  it("stores its report with the revision, and a newer revision has none", async () => {
    const startedAt = new Date().toISOString();
    const { session, results } = await playTurn(
      service,
      [
        step("check_variant"),
        step("apply_variant", { baseRevision: 0, add: [payNow] }),
        step("check_variant"),
        step("apply_variant", { baseRevision: 1, css: "main { width: 2000px }" }),
        step("check_variant", { viewports: ["phone"] }),
        step("apply_variant", { baseRevision: 2, css: "" }),
      ],
      { targetUrl: site.url },
    );
    const [none = "", , passed = "", , failed = ""] = results;
    assert.match(none, /There is no variant main: the session has no variants yet\./);
    assert.match(passed, /^Check of revision 1 of variant main: pass\./);
    assert.match(failed, /^Check of revision 2 of variant main: fail\.[\s\S]*- fail overflow \(phone, /);

    const [variant] = await listVariants(service, session.sessionId);
    assert.deepEqual([variant?.revision, variant?.check], [3, null]);
    const first = await readRevision(service, session.sessionId, 1);
    assert.equal(first.check?.status, "pass");
    const second = await readRevision(service, session.sessionId, 2);
    assert.equal(second.check?.status, "fail");
    const dates = [startedAt, first.check?.at ?? "", second.check?.at ?? "", new Date().toISOString()];
    assert.deepEqual(dates, dates.toSorted(), "each check has the time at which it began");
    assert.ok(second.check?.findings.some(({ code }) => code === "overflow"));
    const events = await readEvents(service, session.sessionId);
    assert.deepEqual(
      only(events, "variant.updated").map(({ variant: { revision, check } }) => [revision, check?.status]),
      [
        [1, undefined],
        [1, "pass"],
        [2, undefined],
        [2, "fail"],
        [3, undefined],
      ],
    );
    const [end] = only(events, "run.completed");
    assert.deepEqual(end?.variants, [variant]);
    const named = passed.match(/\(phone\): c1 proved; evidence: before (evi_\w+), after (evi_\w+)/) ?? [];
    const { before, after } =
      first.check?.pages?.find(({ viewport }) => viewport === "phone")?.pictures ?? {};
    assert.deepEqual(named.slice(1), [before?.id, after?.id], "the agent can give the pictures as evidence");
    const pictures = await service.container.services.evidence.list(session.sessionId);
    assert.ok(pictures.length >= 3, "before, after and difference are evidence");
  });

  it("replaces characters of a page's messages that the database cannot store", async () => {
    const odd =
      "console.error('bad \\u0000 \\ud800 sign'); document.querySelector('#pay').textContent = '\\u0000';";
    const { session, results } = await playTurn(
      service,
      [
        step("apply_variant", { baseRevision: 0, js: odd, add: [{ ...payNow, note: "a \u0000 note" }] }),
        step("check_variant", { viewports: ["desktop"] }),
        step("set_previews", {
          previews: [{ title: "A \u0000 title", url: site.url, variant: "main", scrollTo: "#\u0000" }],
        }),
      ],
      { targetUrl: site.url },
    );
    assert.match(results[1] ?? "", /^Check of revision 1 of variant main: fail\.[\s\S]*console_error/);
    const { check, document } = await readRevision(service, session.sessionId, 1);
    assert.equal(check?.status, "fail");
    assert.equal(document.pages[0]?.changes[0]?.note, "a \ufffd note");
    assert.match(results[2] ?? "", /A \ufffd title/);
  });
});
