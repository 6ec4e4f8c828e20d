import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import {
  actOnPage,
  openVariantsService,
  playTurn,
  readRevision,
  step,
} from "../variants/variants-testing.ts";
import { listRequirements } from "./planning-testing.ts";

let opened: Awaited<ReturnType<typeof openVariantsService>>;
let service: TestService;
let site: { url: string };

before(async () => {
  opened = await openVariantsService((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(
      `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Shop</title>
       <main><h1>Shop</h1><button id="pay">Pay</button><p class="ad">Ad</p></main></html>`,
    );
  });
  ({ service, site } = opened);
});
after(() => opened.close());

const setPay = (text: string) => ({ op: "setText", selector: "#pay", text });

describe("assertions in check_variant", () => {
  it("fail as findings with the requirement's id, and pass after the repair", async () => {
    const on = (path: string) => `${site.url}${path}`;
    const { session, results } = await playTurn(
      service,
      [
        step("add_requirements", {
          requirements: [
            {
              text: "Reads Pay now",
              assertion: { url: on("/"), selector: "#pay", is: "text", value: "Pay now" },
            },
            { text: "One ad", assertion: { url: on("/"), selector: ".ad", is: "count", value: 1 } },
            { text: "No banner", assertion: { url: on("/"), selector: ".banner", is: "hidden" } },
            { text: "Elsewhere", assertion: { url: on("/other"), selector: "h1", is: "visible" } },
            { text: "Said in words" },
          ],
        }),
        step("apply_variant", { baseRevision: 0, add: [setPay("Pay later")] }),
        step("check_variant", { viewports: ["desktop"] }),
        step("list_requirements"),
        step("apply_variant", { baseRevision: 1, drop: ["c1"], add: [setPay("Pay now")] }),
        step("check_variant", { viewports: ["desktop"] }),
      ],
      { targetUrl: site.url },
    );
    assert.match(
      results[2] ?? "",
      /revision 1 of variant main: fail[\s\S]*fail requirement[^\n]*Requirement r1/,
    );
    assert.match(
      results[2] ?? "",
      /- requirement r1: fail\n- requirement r2: pass\n- requirement r3: pass\n- requirement r4: unchecked/,
    );
    assert.match(results[3] ?? "", /r1 \[open\][^\n]*check of revision 1 of main: fail/);
    assert.match(results[3] ?? "", /<data-[\s\S]*r1: Requirement r1/);
    assert.match(results[5] ?? "", /revision 2 of variant main: pass/);

    const first = await readRevision(service, session.sessionId, 1);
    const finding = first.check?.findings.find(({ code }) => code === "requirement");
    assert.equal((finding as { requirementId?: string } | undefined)?.requirementId, "r1");
    const listed = await listRequirements(service, session.sessionId);
    assert.deepEqual(
      listed.map(({ id, outcome }) => [id, outcome?.status, outcome?.revision]),
      [
        ["r1", "pass", 2],
        ["r2", "pass", 2],
        ["r3", "pass", 2],
        ["r4", "unchecked", 2],
        ["r5", undefined, undefined],
      ],
    );
    // A check only evaluates the assertions. It does not mark requirements as met.
    assert.ok(listed.every(({ status }) => status === "open"));
    const events = only(await readEvents(service, session.sessionId), "requirement.updated");
    assert.deepEqual(
      events.map(({ requirements }) => requirements.length),
      [5, 4, 4],
    );
  });

  it("also count in a person's check, unless the requirement is waived", async () => {
    const { session } = await playTurn(
      service,
      [step("apply_variant", { baseRevision: 0, add: [setPay("Pay now")] })],
      { targetUrl: site.url },
    );
    const api = `/api/sessions/${session.sessionId}/requirements`;
    const assertion = { url: site.url, selector: "#pay", is: "text", value: "Buy" };
    await service.call("POST", api, { requirements: [{ text: "Reads Buy", assertion }] });
    const check = () => actOnPage(service, session, "/variants/main/check", undefined);
    assert.equal((await check()).status, 200);
    assert.equal((await readRevision(service, session.sessionId, 1)).check?.status, "fail");
    const [failed] = await listRequirements(service, session.sessionId);
    assert.equal(failed?.outcome?.status, "fail");
    assert.match(failed?.outcome?.message ?? "", /the text of "#pay" is "Pay now" instead of "Buy"/);
    await service.call("PATCH", `${api}/r1`, { status: "waived" });
    assert.equal((await check()).status, 200);
    assert.equal((await readRevision(service, session.sessionId, 1)).check?.status, "pass");
    await service.call("PATCH", `${api}/r1`, { assertion: { ...assertion, value: "Pay now" } });
    assert.equal((await listRequirements(service, session.sessionId))[0]?.outcome, null);
  });
});
