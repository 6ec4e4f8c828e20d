import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { landingPageBlobs, landingPageFiles } from "#db/schema/index.ts";
import { openTestService, type TestService } from "../testing.ts";
import { deploy, openSession, writeFolder } from "./pages-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

const SESSIONS = 6;
const ROUNDS = 5;

it("contents that pages share survive simultaneous deploys and removals, and are removed with the last page", async () => {
  // All sessions deploy the same files, so that deploys and removals of the same contents race.
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`f${index}.txt`, `shared content ${index}`]),
  );
  const play = async (name: string) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const session = await openSession(service);
      await writeFolder(service, session.sessionId, "site", { "index.html": "shared index", ...files });
      const slug = `${name}-${round}`;
      const { isError, text } = await deploy(service, session, { folder: "site", slug });
      assert.equal(isError, false, text);
      const { answer } = service.container.services.servedPages;
      const served = await answer({ pathname: `/p/${slug}/f7.txt`, search: "" });
      assert.equal(Buffer.from(served.body ?? []).toString(), "shared content 7");
      assert.equal((await service.call("POST", `/api/pages/${slug}/unpublish`)).status, 200);
      assert.equal((await service.call("DELETE", `/api/sessions/${session.sessionId}`)).status, 200);
    }
  };
  await Promise.all(Array.from({ length: SESSIONS }, (_, index) => play(`s${index}`)));
  const { db } = service.container.services;
  assert.deepEqual(await db.select().from(landingPageFiles), []);
  const remaining = await db.select({ hash: landingPageBlobs.hash }).from(landingPageBlobs);
  assert.deepEqual(remaining, []);
});
