import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import {
  listVariants,
  openVariantsService,
  playFollowUp,
  playTurn,
  readRevision,
  script,
  scriptTurn,
  step,
} from "./variants-testing.ts";

let opened: Awaited<ReturnType<typeof openVariantsService>>;
let service: TestService;
let site: { url: string };

before(async () => {
  opened = await openVariantsService((request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(
      `<!doctype html><title>${request.url}</title><h1 id="headline">Shop</h1><div id="banner">Sale</div>
       <button id="pay" class="primary">Pay</button><p class="summary">Total 10</p><a href="/other">Other</a>${request.url?.startsWith("/framed") ? '<iframe srcdoc="<b id=inner>In</b>"></iframe>' : ""}`,
    );
  });
  ({ service, site } = opened);
});
after(() => opened.close());

const READ = script(
  "return await page.evaluate(() => ({ title: document.title, pay: document.querySelector('#pay')?.textContent, banner: document.querySelector('#banner')?.checkVisibility() ?? false, note: document.querySelector('.note')?.textContent }))",
);
const payNow = { op: "setText", selector: "#pay", text: "Pay now" };

describe("apply_variant", () => {
  it("says that an element inside a frame cannot be changed", async () => {
    const { results } = await playTurn(
      service,
      [
        step("apply_variant", {
          baseRevision: 0,
          add: [
            { op: "setText", selector: "#inner", text: "New" },
            { op: "setText", selector: "#nowhere", text: "New" },
          ],
        }),
      ],
      { targetUrl: `${site.url}/framed` },
    );
    const [refused = ""] = results;
    assert.match(refused, /nothing was stored: 2 changes do not fit/);
    assert.match(refused, /c1 setText "#inner": matches only inside a frame\. A variant cannot change/);
    assert.match(refused, /c2 setText "#nowhere": no element matches/);
  });

  it("stores a revision and applies it to the live page at once and after each load", async () => {
    const { session, results } = await playTurn(
      service,
      [
        step("apply_variant", {
          baseRevision: 0,
          add: [
            payNow,
            { op: "remove", selector: "#banner" },
            {
              op: "insert",
              selector: ".summary",
              position: "after",
              html: '<p class="note">Free returns</p>',
            },
          ],
        }),
        READ,
        script(
          "await page.goto(new URL('/other', page.url()).href); await page.goBack(); await page.reload()",
        ),
        READ,
        script("await page.goto(new URL('/other', page.url()).href)"),
        READ,
      ],
      { targetUrl: `${site.url}/checkout?step=1` },
    );
    const [applied = "", now = "", , reloaded = "", , other = ""] = results;
    assert.match(applied, /^Stored revision 1 of variant main\. The live page shows it\./);
    assert.match(applied, /c1 setText "#pay": 1 element\n {2}button "Pay" \[e\d+\] text "Pay" → "Pay now"/);
    assert.match(applied, /c2 remove "#banner": 1 element/);
    assert.match(applied, /Evidence evi_/);
    for (const text of [now, reloaded])
      assert.match(text, /"pay": "Pay now",\s+"banner": false,\s+"note": "Free returns"/);
    assert.match(other, /"pay": "Pay",\s+"banner": true/);

    const [variant] = await listVariants(service, session.sessionId);
    assert.deepEqual(variant, { key: "main", revision: 1, check: null, publication: null });
    const revision = await readRevision(service, session.sessionId, 1);
    assert.equal(revision.author, "agent");
    assert.equal(revision.isShown, true);
    assert.deepEqual(revision.document.pages[0]?.url, `${site.url}/checkout`);
    assert.deepEqual(
      revision.document.pages[0]?.changes.map(({ id, op }) => [id, op]),
      [
        ["c1", "setText"],
        ["c2", "remove"],
        ["c3", "insert"],
      ],
    );
    const events = await readEvents(service, session.sessionId);
    const [updated] = only(events, "variant.updated");
    assert.deepEqual(
      [updated?.variant.revision, updated?.author, updated?.changeCount, updated?.isShown],
      [1, "agent", 3, true],
    );
    const [end] = only(events, "run.completed");
    assert.deepEqual(end?.variants, [variant]);
    const status = await service.read<{ variants: unknown }>(
      `/api/sessions/${session.sessionId}/agent/status`,
    );
    assert.deepEqual(status.variants, [variant]);
  });

  it("refuses the whole call for a selector without a match, and names the closest candidates", async () => {
    const { session, results } = await playTurn(
      service,
      [
        step("apply_variant", {
          baseRevision: 0,
          add: [payNow, { op: "setText", selector: "#headlin h2", text: "Winter" }],
        }),
        READ,
        step("apply_variant", {
          baseRevision: 0,
          add: [
            { op: "setText", selector: "#soon", text: "x", late: true },
            { op: "remove", selector: "((" },
          ],
        }),
        step("apply_variant", {
          baseRevision: 0,
          add: [{ op: "setText", selector: "#soon", text: "x", late: true }],
        }),
      ],
      { targetUrl: `${site.url}/checkout` },
    );
    const [refused = "", now = "", invalid = "", late = ""] = results;
    assert.match(
      refused,
      /c2 setText "#headlin h2": no element matches\. Closest:\n\s+#headline: heading 1 "Shop"/,
    );
    assert.match(now, /"pay": "Pay"/);
    assert.match(
      invalid,
      /^Error: apply_variant: change c2 \(remove\)\.selector: has brackets that are not balanced/,
    );
    assert.match(late, /Stored revision 1 .*\n[\s\S]*c1 setText "#soon": no element yet/);
    const updated = only(await readEvents(service, session.sessionId), "variant.updated");
    assert.equal(updated.length, 1);
  });

  it("refuses an outdated baseRevision and reports the changes since, and drops and replaces changes by id", async () => {
    const { session, results } = await playTurn(
      service,
      [
        step("apply_variant", { baseRevision: 1, add: [payNow] }),
        step("apply_variant", { baseRevision: 0, add: [payNow, { op: "remove", selector: "#banner" }] }),
        step("apply_variant", { baseRevision: 0, add: [{ op: "setText", selector: "h1", text: "Winter" }] }),
        step("apply_variant", {
          baseRevision: 1,
          add: [{ ...payNow, id: "c1", text: "Buy" }],
          drop: ["c2"],
          css: "h1 { color: rgb(1, 2, 3) }",
        }),
        script(
          "return await page.evaluate(() => [document.querySelector('#pay').textContent, getComputedStyle(document.querySelector('h1')).color, document.querySelector('#banner').checkVisibility()])",
        ),
        step("apply_variant", { baseRevision: 2, drop: ["c9"] }),
        step("apply_variant", { baseRevision: 2, add: [] }),
        step("apply_variant", { baseRevision: 2_147_483_648, drop: ["c1"] }),
        step("apply_variant", { baseRevision: 1, drop: ["c1"] }),
        step("apply_variant", { baseRevision: 2, add: [{ op: "setText", selector: "h1", text: "Winter" }] }),
      ],
      { targetUrl: `${site.url}/checkout` },
    );
    const [tooHigh = "", , stale = "", replaced = "", shown = "", unknown = "", empty = ""] = results;
    const [beyond = "", restyled = "", again = ""] = results.slice(7);
    assert.match(beyond, /baseRevision: 2147483648 does not exist; the newest revision is 2/);
    assert.match(restyled, /altered css of .*\/checkout: "h1 \{ color: rgb\(1, 2, 3\) \}"/);
    assert.match(tooHigh, /baseRevision: the variant has no revision yet, so it must be 0, not 1/);
    assert.match(
      stale,
      /baseRevision: 0 is stale; the newest revision is 1\. Changed since:\n- added .*"c1"/,
    );
    assert.match(replaced, /Stored revision 2/);
    assert.match(replaced, /c1 setText "#pay": 1 element/);
    assert.match(again, /Stored revision 3[\s\S]*\nc3 setText "h1": 1 element\n.*\nc1: applied as before\n</);
    assert.doesNotMatch(again, /c1 setText/);
    assert.match(shown, /"Buy",\s+"rgb\(1, 2, 3\)",\s+true/);
    assert.match(unknown, /drop: there is no change c9\. The variant has c1\./);
    assert.match(empty, /changes nothing/);
    const { document } = await readRevision(service, session.sessionId, 2);
    assert.deepEqual(
      document.pages[0]?.changes.map((change) => [change.id, change.op === "setText" && change.text]),
      [["c1", "Buy"]],
    );
    const first = await readRevision(service, session.sessionId, 1);
    assert.equal(first.document.pages[0]?.changes.length, 2, "revisions are immutable");
  });

  it("names the newest revision at the start of a later turn, which the agent can read", async () => {
    const { session } = await playTurn(service, [step("apply_variant", { baseRevision: 0, add: [payNow] })], {
      targetUrl: `${site.url}/checkout`,
    });
    const [read = "", none = "", second = ""] = await playFollowUp(service, session.sessionId, [
      step("apply_variant", { baseRevision: 1 }),
      step("apply_variant", { variant: "b", baseRevision: 0 }),
      step("apply_variant", { baseRevision: 1, variant: "main", drop: ["c1"] }),
    ]);
    assert.match(read, /^Nothing was changed\. Revision 1 of variant main has these pages/);
    const pages = [
      { url: `${site.url}/checkout`, match: "path", changes: [{ id: "c1", ...payNow }], css: "", js: "" },
    ];
    assert.deepEqual(JSON.parse(read.match(/^\[.*\]$/m)?.[0] ?? ""), pages);
    assert.match(none, /changes nothing/);
    assert.match(second, /Stored revision 2/);
    const prompt = service.model.requests.findLast(({ kind }) => kind === "turn")?.text ?? "";
    assert.match(prompt, /Variant main has revision 1, not checked\./);
    assert.match(prompt, /apply_variant with baseRevision alone shows what a variant has\./);
  });

  it("stores changes of other pages, and all changes without a browser, without trying them, and says so", async () => {
    const page = { url: `${site.url}/other`, changes: [{ op: "remove", selector: "#nowhere" }] };
    const { results } = await playTurn(service, [step("apply_variant", { baseRevision: 0, set: [page] })], {
      targetUrl: `${site.url}/checkout`,
    });
    assert.match(results[0] ?? "", /Not tried, because the live page is another one: c1\./);

    const blind = await playTurn(service, [step("apply_variant", { baseRevision: 0, add: [payNow] })], {
      targetUrl: `${site.url}/checkout`,
      capabilities: { browser: false },
    });
    assert.match(
      blind.results[0] ?? "",
      /^Stored revision 1 of variant main\. This session has no browser, so its selectors were not tried/,
    );
    const [variant] = await listVariants(service, blind.session.sessionId);
    assert.equal(variant?.revision, 1);
  });

  it("shows one variant at a time, and takes pictures of any variant", async () => {
    const { results } = await playTurn(
      service,
      [
        step("apply_variant", { baseRevision: 0, add: [payNow] }),
        step("apply_variant", { variant: "b", baseRevision: 0, add: [{ ...payNow, text: "Order" }] }),
        READ,
        step("screenshot", { selector: "#pay", variant: "main" }),
        step("screenshot", { selector: "#pay", variant: null }),
        step("capture_preview", { device: "mobile", variant: "c" }),
        READ,
      ],
      { targetUrl: `${site.url}/checkout` },
    );
    assert.match(results[2] ?? "", /"pay": "Order"/);
    assert.match(results[3] ?? "", /Screenshot of #pay, variant main/);
    assert.match(results[4] ?? "", /Screenshot of #pay, without a variant/);
    assert.match(results[5] ?? "", /There is no variant c\. The session has main, b\./);
    assert.match(results[6] ?? "", /"pay": "Order"/);
  });

  it("adds variants to the outcome of a structured session that includes it", async () => {
    const outputSchema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
    const edit = step("apply_variant", { baseRevision: 0, add: [payNow] });
    const targetUrl = `${site.url}/checkout`;
    const included = await playTurn(service, [edit], {
      targetUrl,
      outputSchema,
      tools: { include: ["apply_variant"] },
    });
    const [end] = only(await readEvents(service, included.session.sessionId), "run.completed");
    assert.deepEqual(end?.deliverable?.status === "ready" && end.deliverable.value, { title: "Shop" });
    assert.deepEqual(
      end?.variants?.map(({ key, revision }) => [key, revision]),
      [["main", 1]],
    );
    const plain = await playTurn(service, [], { targetUrl, outputSchema });
    const [other] = only(await readEvents(service, plain.session.sessionId), "run.completed");
    assert.ok(other && !("variants" in other));
  });

  it("changes the variants of the root when a sub-agent calls it, with or without its own browser", async () => {
    const objective = `edit ${crypto.randomUUID()}`;
    const blind = `edit blind ${crypto.randomUUID()}`;
    scriptTurn(service, objective, [
      step("apply_variant", { baseRevision: 0, add: [payNow] }),
      step("submit_result", { result: "done" }),
    ]);
    scriptTurn(service, blind, [
      step("apply_variant", { variant: "b", baseRevision: 0, add: [payNow] }),
      step("submit_result", { result: "done" }),
    ]);
    const spawn = (agent: object) => [
      step("spawn_agents", { agents: [{ url: `${site.url}/checkout`, ...agent }] }),
      step("wait_for_agents"),
    ];
    const { session, results } = await playTurn(
      service,
      [
        ...spawn({ objective, browser: "own" }),
        READ,
        script("await page.reload()"),
        READ,
        ...spawn({ objective: blind, browser: "none" }),
      ],
      { targetUrl: `${site.url}/checkout`, subAgents: true },
    );
    const variants = await listVariants(service, session.sessionId);
    assert.deepEqual(
      variants.map(({ key, revision }) => [key, revision]),
      [
        ["main", 1],
        ["b", 1],
      ],
    );
    for (const text of [results[2], results[4]])
      assert.match(text ?? "", /"pay": "Pay now"/, "the root's browser shows the variant too");
    const updated = only(await readEvents(service, session.sessionId), "variant.updated");
    assert.deepEqual(
      updated.map(({ runId }) => runId === session.runId),
      [false, false],
      "the revisions are of other runs",
    );
  });
});
