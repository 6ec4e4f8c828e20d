import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import {
  actOnPage,
  listVariants,
  openVariantsService,
  playFollowUp,
  playTurn,
  readRevision,
  script,
  step,
} from "./variants-testing.ts";

let opened: Awaited<ReturnType<typeof openVariantsService>>;
let service: TestService;
let site: { url: string };

before(async () => {
  opened = await openVariantsService((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end('<!doctype html><title>Shop</title><h1>Shop</h1><button id="pay">Pay</button>');
  });
  ({ service, site } = opened);
});
after(() => opened.close());

const READ = script("return await page.evaluate(() => document.body.innerText.replace(/\\s+/g, ' '))");
const edit = (session: { sessionId: string; shareUrl: string }, baseRevision: number, edits: object[]) =>
  actOnPage(service, session, "/variants/main/revisions", { baseRevision, edits });
const show = (session: { sessionId: string; shareUrl: string }, variant: string | null) =>
  actOnPage(service, session, "/shown-variant", { variant });

const playEdits = () =>
  playTurn(
    service,
    [
      step("apply_variant", {
        baseRevision: 0,
        add: [
          { op: "setText", selector: "#pay", text: "Pay now" },
          { op: "setText", selector: "h1", text: "Winter shop" },
        ],
      }),
    ],
    { targetUrl: site.url },
  );

describe("a person's edits of a variant", () => {
  it("are revisions with the author person, which the live browser shows at once", async () => {
    const { session } = await playEdits();
    const edited = await edit(session, 1, [
      { action: "setText", changeId: "c1", text: "Buy" },
      { action: "off", changeId: "c2" },
    ]);
    assert.equal(edited.status, 201);
    assert.equal(((await edited.json()) as { variant: { revision: number } }).variant.revision, 2);
    assert.match((await playFollowUp(service, session.sessionId, [READ]))[0] ?? "", /Shop Buy/);
    const revision = await readRevision(service, session.sessionId, 2);
    assert.equal(revision.author, "person");
    assert.deepEqual(
      revision.document.pages[0]?.changes.map(({ id, off }) => [id, off]),
      [
        ["c1", undefined],
        ["c2", true],
      ],
    );
    assert.equal((await edit(session, 2, [{ action: "on", changeId: "c2" }])).status, 201);
    assert.match((await playFollowUp(service, session.sessionId, [READ]))[0] ?? "", /Winter shop Buy/);
    assert.equal((await edit(session, 3, [{ action: "drop", changeId: "c1" }])).status, 201);
    assert.match(
      (await playFollowUp(service, session.sessionId, [READ]))[0] ?? "",
      /Winter shop Pay$|Winter shop Pay\b/,
    );
    const authors = only(await readEvents(service, session.sessionId), "variant.updated").map(
      ({ author }) => author,
    );
    assert.deepEqual(authors, ["agent", "person", "person", "person"]);
  });

  it("are in the instructions of the next turn, and the agent is told if it undoes them", async () => {
    const { session } = await playEdits();
    const edits = [
      { action: "off", changeId: "c1" },
      { action: "drop", changeId: "c2" },
    ];
    assert.equal((await edit(session, 1, edits)).status, 201);
    const changes = [
      { id: "c1", op: "setText", selector: "#pay", text: "Pay now" },
      { id: "c2", op: "setText", selector: "h1", text: "Winter shop" },
      { op: "remove", selector: "title" },
    ];
    const css = "#pay:hover, #pay[hidden] { color: red } #pya { colour: red }";
    const [applied = "", styled = ""] = await playFollowUp(service, session.sessionId, [
      step("apply_variant", { baseRevision: 2, set: [{ url: site.url, match: "prefix", changes }] }),
      step("apply_variant", { baseRevision: 3, css }),
    ]);
    const prompt = service.model.requests.findLast(({ kind }) => kind === "turn")?.text ?? "";
    assert.match(
      prompt,
      /Variant main has revision 2, not checked\. A person has changed it since your revision 1\./,
    );
    assert.match(prompt, /switched off .*c1.*#pay[\s\S]*dropped .*c2.*Winter shop/);
    assert.match(
      applied,
      /^Stored revision 3 of variant main\.\n- c3: the id c2 belonged to an earlier change\.\n- c1: a person switched it off in revision 2\.\n- c3: a person dropped it in revision 2, as c2\.\nTake out what/,
    );
    const { document } = await readRevision(service, session.sessionId, 3);
    assert.deepEqual(
      document.pages[0]?.changes.map(({ id }) => id),
      ["c1", "c3", "c4"],
    );
    assert.match(
      styled,
      /ignores parts of the css:[\s\S]*"#pya": matches no element[\s\S]*"colour" is not a property/,
    );
    assert.doesNotMatch(styled, /#pay/);
    const next = await playFollowUp(service, session.sessionId, [
      step("apply_variant", { baseRevision: 4, drop: ["c3", "c4"] }),
      step("apply_variant", { baseRevision: 5, add: [{ op: "setText", selector: "h1", text: "Spring" }] }),
    ]);
    assert.match(next[1] ?? "", /^Stored revision 6 of variant main\. The live[\s\S]*\nc5 setText "h1"/);
  });

  it("are refused with an outdated baseRevision, for unknown changes, and without the role drive", async () => {
    const { session } = await playEdits();
    const off = { action: "off", changeId: "c1" };
    assert.equal((await edit(session, 1, [off])).status, 201);
    const stale = await edit(session, 1, [off]);
    assert.equal(stale.status, 409);
    assert.match(
      ((await stale.json()) as { error: string }).error,
      /^baseRevision: the newest revision is 2/,
    );
    const refusals: [object[], RegExp][] = [
      [[{ action: "off", changeId: "c9" }], /^edits\[0\]\.changeId: there is no change c9$/],
      [[], /^edits: must hold an edit$/],
      [[{ action: "burn", changeId: "c1" }], /^edits\[0\]\.action: must be one of/],
    ];
    for (const [edits, sentence] of refusals) {
      const refused = await edit(session, 2, edits);
      assert.equal(refused.status, 400);
      assert.match(((await refused.json()) as { error: string }).error, sentence);
    }
    assert.equal((await listVariants(service, session.sessionId))[0]?.revision, 2, "nothing was stored");
    const link = await service.call("POST", `/api/sessions/${session.sessionId}/share-links`, {
      role: "view",
    });
    const { shareUrl } = (await link.json()) as { shareUrl: string };
    assert.equal((await edit({ ...session, shareUrl }, 2, [off])).status, 403);
    assert.equal((await show({ ...session, shareUrl }, null)).status, 403);
    assert.equal(
      (await actOnPage(service, session, "/variants/none/revisions", { baseRevision: 1, edits: [off] }))
        .status,
      404,
    );
  });

  it("that change nothing store no revision, so the newest one keeps its check", async () => {
    const { session } = await playEdits();
    for (const same of [
      { action: "setText", changeId: "c1", text: "Pay now" },
      { action: "on", changeId: "c2" },
    ]) {
      const answer = await edit(session, 1, [same]);
      assert.equal(answer.status, 200);
      assert.equal(((await answer.json()) as { variant: { revision: number } }).variant.revision, 1);
    }
    assert.equal(only(await readEvents(service, session.sessionId), "variant.updated").length, 1);
  });

  it("can be switched off and on in the live browser, also for later page loads", async () => {
    const { session } = await playEdits();
    const reload = script("await page.reload(); return await page.evaluate(() => document.body.innerText)");
    assert.equal((await show(session, null)).status, 200);
    assert.match((await playFollowUp(service, session.sessionId, [READ]))[0] ?? "", /Shop Pay/);
    assert.match((await playFollowUp(service, session.sessionId, [reload]))[0] ?? "", /Shop\s+Pay/);
    assert.equal((await edit(session, 1, [{ action: "off", changeId: "c2" }])).status, 201);
    assert.match(
      (await playFollowUp(service, session.sessionId, [READ]))[0] ?? "",
      /Shop Pay/,
      "the variant stays off",
    );
    assert.equal((await show(session, "main")).status, 200);
    assert.match((await playFollowUp(service, session.sessionId, [READ]))[0] ?? "", /Shop Pay now/);
    assert.equal((await show(session, "b")).status, 400);
    const shown = only(await readEvents(service, session.sessionId), "variant.updated").map(
      ({ isShown }) => isShown,
    );
    assert.deepEqual(shown, [true, false, false, true]);
  });

  it("can be checked by a person, one check at a time", async () => {
    const { session } = await playEdits();
    const check = () => actOnPage(service, session, "/variants/main/check", undefined);
    const [first, second] = await Promise.all([check(), check()]);
    assert.deepEqual([first.status, second.status].sort(), [200, 409]);
    const [variant] = await listVariants(service, session.sessionId);
    assert.equal(variant?.check?.status, (await readRevision(service, session.sessionId, 1)).check?.status);
    assert.ok(variant?.check);
    assert.equal((await actOnPage(service, session, "/variants/none/check", undefined)).status, 404);
  });

  it("can be checked by a person who says what to click first, and at which width", async () => {
    const { session } = await playEdits();
    const [page] = (await readRevision(service, session.sessionId, 1)).document.pages;
    const check = (body: unknown) => actOnPage(service, session, "/variants/main/check", body);
    const pages = [{ url: page?.url, open: [{ click: "#no-such-menu" }] }];
    const answer = await check({ pages, viewports: ["tablet", "tablet"], allowSubmits: true });
    assert.equal(answer.status, 200);
    const report = (await readRevision(service, session.sessionId, 1)).check;
    assert.deepEqual(
      report?.findings.map(({ code, viewport }) => [code, viewport]),
      [["page_failed", "tablet"]],
    );
    assert.match(report?.findings[0]?.message ?? "", /^pages\[0\]\.open\[0\]\.click: "#no-such-menu"/);
    for (const [body, problem] of [
      [{ pages: [{ url: page?.url, open: [{ click: "" }] }] }, /^pages\[0\]\.open\[0\]\.click: /],
      [{ pages: Array(6).fill({ url: page?.url, open: [] }) }, /^pages: must hold at most 5 pages/],
      [{ allowSubmits: "yes" }, /^allowSubmits: /],
    ] as const) {
      const refused = await check(body);
      assert.equal(refused.status, 400);
      assert.match(((await refused.json()) as { error: string }).error, problem);
    }
  });
});
