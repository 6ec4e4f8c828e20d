import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { readOfferedTools } from "#e2e/fixtures/offered-tools.ts";
import type { TestService } from "../testing.ts";
import {
  apply,
  listVariants,
  openVariantsService,
  playFollowUp,
  playTurn,
  readOffered,
  step,
} from "./variants-testing.ts";

let opened: Awaited<ReturnType<typeof openVariantsService>>;
let service: TestService;
let site: { url: string };

before(async () => {
  opened = await openVariantsService((request, response) => {
    response.setHeader("content-type", "text/html");
    if (request.url !== "/open") response.setHeader("content-security-policy", "script-src 'self'");
    response.end(
      '<!doctype html><html lang="en"><title>Shop</title><main><h1>Shop</h1><button id="pay">Pay</button><p id="menu" hidden>Menu</p></main>',
    );
  });
  ({ service, site } = opened);
});
after(() => opened.close());

const add = [{ op: "setText", selector: "#pay", text: "Pay now" }];
const change = { toolCalls: [apply({ baseRevision: 0, add })] };

describe("publish_variant", () => {
  it("publishes a checked revision once, and answers with the script tag and the content security policy to add", async () => {
    const { session, results } = await playTurn(
      service,
      [
        change,
        step("publish_variant"),
        step("check_variant"),
        step("publish_variant"),
        step("publish_variant"),
      ],
      { targetUrl: site.url },
    );
    const [, refused, , published, repeated] = results;
    assert.match(
      refused ?? "",
      /^Error: publish_variant: revision 1 of variant main was not checked\. Run check_variant, correct what it finds, and publish then\.$/,
    );
    const [summary] = await listVariants(service, session.sessionId);
    const { publication } = summary ?? assert.fail("no variant");
    assert.ok(publication, results.join("\n"));
    assert.deepEqual([publication.number, publication.revision, publication.isUnchecked], [1, 1, false]);
    assert.ok(published?.startsWith("Published release 1 of variant main: revision 1."));
    assert.ok(published?.includes(`<script async src="${publication.scriptUrl}"></script>`));
    assert.ok(published?.includes(`integrity="${publication.integrity}" crossorigin="anonymous"`));
    assert.match(published ?? "", /add http:\/\/127\.0\.0\.1:\d+ to script-src/);
    assert.match(published ?? "", /Tell people the tag and what their content policy must allow\./);
    assert.match(repeated ?? "", /^Revision 1 of variant main is published already, as release 1\./);
    const events = (
      await service.container.services.log.read(session.sessionId, { after: 0, limit: 500 })
    ).map(({ body }) => JSON.parse(body));
    const created = events.filter(({ kind }) => kind === "publication.created");
    assert.deepEqual(
      created.map(({ author, variant, runId }) => [author, variant, runId]),
      [["agent", "main", session.runId]],
    );
    assert.deepEqual(
      events.findLast(({ kind }) => kind === "run.completed").variants[0].publication,
      publication,
    );

    // A new revision is not published automatically, so the publication stays the same.
    const next = { toolCalls: [apply({ baseRevision: 1, add: [{ ...add[0], id: "c1", text: "Buy" }] })] };
    const [, again] = await playFollowUp(service, session.sessionId, [next, step("publish_variant")]);
    assert.match(again ?? "", /^Error: publish_variant: revision 2 of variant main was not checked/);
    assert.deepEqual((await listVariants(service, session.sessionId))[0]?.publication, publication);
  });

  it("refuses what was not examined until a person or the caller has accepted it, which the agent cannot", async () => {
    const hidden = { op: "setText", selector: "#menu", text: "Our menu" };
    const check = step("check_variant", { viewports: ["desktop"] });
    const { session, results } = await playTurn(
      service,
      [{ toolCalls: [apply({ baseRevision: 0, add: [hidden] })] }, check, step("publish_variant")],
      { targetUrl: `${site.url}/open` },
    );
    const [, checked = "", refused = ""] = results;
    assert.match(checked, /^Check of revision 1 of variant main: fail\.[\s\S]*c1 not examined/);
    assert.match(
      checked,
      /\nNothing failed\. The check has a change that was not examined and not accepted: c1\./,
    );
    assert.match(checked, /Ask the person to accept this .* you cannot accept it yourself\./);
    assert.doesNotMatch(checked, /Every change was proved/);
    assert.match(
      refused,
      /^Error: publish_variant: revision 1 of variant main has a change that was not examined and not accepted: c1\. You cannot accept this yourself\. Tell the person/,
    );
    const instructions = () => service.model.requests.findLast(({ kind }) => kind === "turn")?.text ?? "";
    const [variant] = await listVariants(service, session.sessionId);
    const accepted = await service.call("POST", `/api/sessions/${session.sessionId}/variants/main/accept`, {
      revision: 1,
      checkedAt: variant?.check?.at,
      changes: ["c1"],
    });
    assert.equal(accepted.status, 200);
    const [again = "", published = ""] = await playFollowUp(service, session.sessionId, [
      check,
      step("publish_variant"),
    ]);
    assert.match(instructions(), /Variant main has revision 1, check: warn\./);
    assert.match(again, /^Check of revision 1 of variant main: warn\.[\s\S]*c1 not examined \(accepted\)/);
    assert.match(again, /\nNothing failed\. What was not examined has been accepted: c1\./);
    assert.match(published, /^Published release 1 of variant main/);
  });

  it("mentions no content security policy if none blocks the script", async () => {
    const { results } = await playTurn(
      service,
      [change, step("check_variant", { viewports: ["desktop"] }), step("publish_variant")],
      { targetUrl: `${site.url}/open` },
    );
    assert.match(results[2] ?? "", /\nTell people the tag\. A person can roll back/);
  });

  it("names the existing variants for an unknown one, and refuses malformed keys", async () => {
    const { results } = await playTurn(
      service,
      [step("publish_variant"), step("publish_variant", { variant: "../x" })],
      { capabilities: { browser: false } },
    );
    assert.match(
      results[0] ?? "",
      /^Error: publish_variant: There is no variant main: the session has no variants yet\.$/,
    );
    assert.match(results[1] ?? "", /variant: must be 1 to 32 lowercase letters/);
  });

  it("is not among the tools of a sub-agent", async () => {
    await playTurn(
      service,
      [{ toolCalls: [{ name: "spawn_agents", arguments: { agents: [{ objective: "look" }] } }] }],
      { subAgents: true },
    );
    const offered = readOffered(service);
    assert.ok(offered.includes("spawn_agents"));
    const ofChild = service.model.requests.find(({ text }) => text.includes("You are a sub-agent"));
    const names = readOfferedTools(ofChild);
    assert.ok(names.includes("apply_variant"));
    assert.ok(!names.includes("publish_variant"));
  });
});
