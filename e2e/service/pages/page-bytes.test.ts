import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { landingPageVersions } from "#db/schema/index.ts";
import { OTHER_KEY, openTestService, type TestService } from "../testing.ts";
import { playTurn, step } from "../variants/variants-testing.ts";
import { deploy, deployFiles, type Files, listPages, openSession, writeFolder } from "./pages-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ PAGES_SESSION_MIB: "1", PAGES_OWNER_MIB: "2" });
});
after(() => service.close());

const KIB = 1_024;
const index = (letter: string): Files => ({ "index.html": letter.repeat(600 * KIB) });
/** Deploys a folder with one file. @returns the tool result that the agent receives. */
async function tryDeploy(session: Awaited<ReturnType<typeof openSession>>, letter: string, slug: string) {
  await writeFolder(service, session.sessionId, "site", index(letter));
  return deploy(service, session, { folder: "site", slug });
}
const countVersions = async () =>
  (await service.container.services.db.select().from(landingPageVersions)).length;

describe("the limit of landing page bytes", () => {
  it("applies to a session; files that it has already deployed do not count again", async () => {
    const { session } = await deployFiles(service, index("a"), { slug: "full" });
    const refused = await tryDeploy(session, "b", "full");
    assert.deepEqual(refused, {
      isError: true,
      text: "deploy_landing_page: with these files the landing pages of the session would have 1.2 MiB; a session may have 1.0 MiB (PAGES_SESSION_MIB). Nothing was deployed.",
    });
    assert.deepEqual(
      (await listPages(service, session.sessionId)).map(({ slug, newestVersion }) => [slug, newestVersion]),
      [["full", 1]],
    );
    const again = await tryDeploy(session, "a", "same-files");
    assert.equal(again.isError, false, again.text);
    await writeFolder(service, session.sessionId, "site", { ...index("a"), "small.txt": "new" });
    const small = await deploy(service, session, { folder: "site", slug: "full" });
    assert.equal(small.isError, false, small.text);
    assert.deepEqual(
      (await listPages(service, session.sessionId)).map(({ slug, newestVersion }) => [slug, newestVersion]),
      [
        ["full", 2],
        ["same-files", 1],
      ],
    );
  });

  it("is reported to the agent in its turn, and a refused deploy does not take the slug", async () => {
    const { results } = await playTurn(service, [
      step("write_file", { path: "a/index.html", content: "c".repeat(600 * KIB) }),
      step("write_file", { path: "b/index.html", content: "d".repeat(600 * KIB) }),
      step("deploy_landing_page", { folder: "a", slug: "turn-a" }),
      step("deploy_landing_page", { folder: "b", slug: "turn-b" }),
    ]);
    assert.match(results[2] ?? "", /^Deployed version 1 of turn-a/);
    assert.match(
      results[3] ?? "",
      /a session may have 1\.0 MiB \(PAGES_SESSION_MIB\)\. Nothing was deployed\.$/,
    );
    assert.equal((await service.call("GET", "/api/pages/turn-b")).status, 404);
  });

  it("applies to all sessions of an owner, also when they deploy at the same time", async () => {
    const versions = await countVersions();
    const sessions = await Promise.all(Array.from({ length: 4 }, () => openSession(service)));
    const outcomes = await Promise.all(
      sessions.map((session, at) => tryDeploy(session, `${at}`, `parallel-${at}`)),
    );
    const refused = outcomes.filter(({ isError }) => isError).map(({ text }) => text);
    // Only one more deploy of 0.6 MiB fits, because the earlier tests have stored 1.2 of the owner's 2 MiB.
    assert.equal(refused.length, 3);
    for (const text of refused)
      assert.match(
        text,
        /^deploy_landing_page: with these files the landing pages of the session's owner would have 2\.3 MiB; an owner may have 2\.0 MiB \(PAGES_OWNER_MIB\)\. Nothing/,
      );
    assert.equal((await countVersions()) - versions, 1);
    const other = { authorization: `Bearer ${OTHER_KEY}` };
    const body = { messages: [{ role: "user", parts: [{ type: "text", text: "x" }] }] };
    const theirs = await (await service.call("POST", "/api/session", body, other)).json();
    const deployed = await tryDeploy(theirs, "z", "theirs");
    assert.equal(deployed.isError, false, deployed.text);
  });

  it("counts no bytes of an unpublished page that was removed with its session", async () => {
    const full = await openSession(service);
    assert.equal((await tryDeploy(full, "y", "later")).isError, true);
    const { sessionId } = await service
      .read<{ page: { sessionId: string } }>("/api/pages/full")
      .then(({ page }) => page);
    for (const slug of ["full", "same-files"])
      assert.equal((await service.call("POST", `/api/pages/${slug}/unpublish`)).status, 200);
    assert.equal((await service.call("DELETE", `/api/sessions/${sessionId}`)).status, 200);
    const freed = await tryDeploy(full, "y", "later");
    assert.equal(freed.isError, false, freed.text);
  });
});
