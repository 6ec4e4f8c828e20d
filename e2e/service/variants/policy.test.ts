import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { TestService } from "../testing.ts";
import {
  actOnPage,
  openVariantsService,
  playFollowUp,
  playTurn,
  readOffered,
  script,
  step,
} from "./variants-testing.ts";

let opened: Awaited<ReturnType<typeof openVariantsService>>;
let service: TestService;
let site: { url: string };

before(async () => {
  opened = await openVariantsService((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end('<!doctype html><title>Shop</title><button id="pay">Pay</button>');
  });
  ({ service, site } = opened);
});
after(() => opened.close());

const EDITING = [
  "apply_variant",
  "check_variant",
  "set_previews",
  "refresh_previews",
  "publish_variant",
  "screenshot",
];
const outputSchema = { type: "object", properties: { title: { type: "string" } } };

/** Plays the first turn of a session. @returns the editing tools that the model was offered. */
async function offer(profile: Record<string, unknown>): Promise<string[]> {
  await playTurn(service, [], profile);
  const offered = readOffered(service);
  return EDITING.filter((name) => offered.includes(name));
}

describe("the set of editing tools", () => {
  it("is complete in an editing session, and empty in a structured one", async () => {
    assert.deepEqual(await offer({}), EDITING);
    assert.deepEqual(await offer({ outputSchema }), []);
  });

  for (const name of EDITING) {
    it(`has ${name} if included in a structured session, and not if exclude or externalTurnExclude names it`, async () => {
      const others = EDITING.filter((other) => other !== name);
      assert.deepEqual(await offer({ outputSchema, tools: { include: [name] } }), [name]);
      assert.deepEqual(await offer({ tools: { exclude: [name] } }), others);
      assert.deepEqual(await offer({ outputSchema, tools: { include: [name], exclude: [name] } }), []);
      assert.deepEqual(await offer({ tools: { externalTurnExclude: [name] } }), others);
    });
  }

  it("lacks tools that need a missing capability, also if they are included", async () => {
    assert.deepEqual(await offer({ capabilities: { browser: false } }), ["apply_variant", "publish_variant"]);
    assert.deepEqual(await offer({ capabilities: { browser: false, sandbox: false } }), ["publish_variant"]);
    const tools = { include: EDITING };
    assert.deepEqual(await offer({ outputSchema, tools, capabilities: { browser: false } }), [
      "apply_variant",
      "publish_variant",
    ]);
    assert.deepEqual(await offer({ outputSchema, tools, capabilities: { browser: false, sandbox: false } }), [
      "publish_variant",
    ]);
  });
});

const PROBE = script("return typeof page.applyVariant");
const USE = script("return await page.applyVariant([{ op: 'setText', selector: '#pay', text: 'Pay now' }])");

describe("page.applyVariant in scripts", () => {
  it("adds changes as apply_variant does, and explains refusals", async () => {
    const { results } = await playTurn(
      service,
      [
        USE,
        script("return await page.locator('#pay').textContent()"),
        script("await page.applyVariant([{ op: 'setText', selector: '#none', text: 'x' }])"),
        script("await page.applyVariant([{ op: 'setText', selector: '#pay' }])"),
        step("apply_variant", { baseRevision: 1, drop: ["c1"] }),
      ],
      { targetUrl: site.url },
    );
    const [used = "", text = "", missing = "", invalid = "", dropped = ""] = results;
    assert.match(used, /"variant": "main",\s+"revision": 1,\s+"matches": \{\s+"c1": 1/);
    assert.match(text, /Pay now/);
    assert.match(missing, /page\.applyVariant: [\s\S]*#none[\s\S]*no element matches/);
    assert.match(invalid, /page\.applyVariant: changes\[0\]\.text: /);
    assert.match(dropped, /Stored revision 2/);
  });

  it("is absent in turns without the tool: by exclude, the analysis profile or externalTurnExclude", async () => {
    const absent = async (profile: Record<string, unknown>) =>
      (await playTurn(service, [PROBE], { targetUrl: site.url, ...profile })).results[0] ?? "";
    assert.match(await absent({ tools: { exclude: ["apply_variant"] } }), /"?undefined"?/);
    assert.match(await absent({ outputSchema }), /undefined/);
    assert.match(await absent({}), /function/);

    const marker = `person ${crypto.randomUUID()}`;
    const { session, results } = await playTurn(service, [PROBE], {
      targetUrl: site.url,
      tools: { externalTurnExclude: ["apply_variant"] },
    });
    assert.match(results[0] ?? "", /undefined/);
    const [external = ""] = await playFollowUp(service, session.sessionId, [PROBE]);
    assert.match(external, /undefined/);
    service.model.respondWith(({ userText, answersSoFar }) =>
      userText.includes(marker) && answersSoFar === 0 ? PROBE : { text: "Done." },
    );
    const posted = await actOnPage(service, session, "/messages", { text: marker });
    await service.completed(((await posted.json()) as { statusUrl: string }).statusUrl);
    const request = service.model.requests.findLast(({ userText }) => userText.includes(marker));
    assert.match(request?.toolResults.at(-1) ?? "", /function/);
  });
});
