import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { checkAcceptances } from "#db/schema/index.ts";
import type { Change } from "#lib/variant/document.ts";
import { storeRevision } from "#lib/variant/store-revision.ts";
import { OTHER_KEY, openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { listVariants, readRevision, storeOutcomes } from "./variants-testing.ts";

let service: TestService;
let dataDir: string;
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "accept-"));
  service = await openTestService({}, dataDir);
});
after(async () => {
  await service.close();
  await rm(dataDir, { recursive: true, force: true });
});

type Session = Awaited<ReturnType<TestService["create"]>>;

const textOf = (id: string, text = id): Change => ({ id, op: "setText", selector: `#${id}`, text });

/** Stores the next revision of `main` with these changes. */
async function revise({ sessionId }: Session, baseRevision: number, changes: Change[]): Promise<void> {
  const stored = await storeRevision(service.container.services.variants, {
    sessionId,
    variant: "main",
    baseRevision,
    author: "agent",
    document: { pages: [{ url: "https://shop.example/", match: "path", changes, css: "", js: "" }] },
    requestId: null,
    runId: null,
    callId: null,
  });
  assert.ok(stored.ok);
}

/** Stores a check of a revision. @returns the stored report. */
const recordOutcomes = (
  { sessionId }: Session,
  revision: number,
  outcomes: Parameters<typeof storeOutcomes>[3],
  options?: Parameters<typeof storeOutcomes>[4],
) => storeOutcomes(service, sessionId, revision, outcomes, options);

/** Creates a session with a variant whose check proved `a`, and did not examine `b` and `c`. */
async function makeChecked() {
  const session = await service.create("work");
  await service.completed(session.statusUrl);
  await revise(session, 0, [textOf("a"), textOf("b"), textOf("c")]);
  const { at } = await recordOutcomes(session, 1, { a: "proved", b: "not_examined", c: "not_examined" });
  return { session, at };
}

const acceptPath = ({ sessionId }: Session) => `/api/sessions/${sessionId}/variants/main/accept`;
const accept = (session: Session, body: object, headers: Record<string, string> = {}) =>
  service.call("POST", acceptPath(session), body, headers);
const publish = ({ sessionId }: Session, body: object = {}) =>
  service.call("POST", `/api/sessions/${sessionId}/variants/main/publish`, body);

async function statusOf({ sessionId }: Session): Promise<string | undefined> {
  return (await listVariants(service, sessionId))[0]?.check?.status;
}

/** Lists who accepted each change of a revision, as the API shows it. */
async function listAccepted({ sessionId }: Session, revision: number) {
  const { check } = await readRevision(service, sessionId, revision);
  return check?.pages.flatMap(({ changes }) =>
    changes.map(({ id, accepted }) => [id, accepted ? `${accepted.by} ${accepted.revision}` : null]),
  );
}

async function refusal(answer: Response): Promise<[number, string]> {
  return [answer.status, ((await answer.json()) as { error: string }).error];
}

describe("accepting changes that a check could not examine", () => {
  it("makes the check pass once all of them are accepted, and survives a restart", async () => {
    const { session, at } = await makeChecked();
    const body = { revision: 1, checkedAt: at };
    assert.equal(await statusOf(session), "fail");
    assert.deepEqual(await refusal(await publish(session)), [
      409,
      "unchecked: revision 1 of variant main has changes that were not examined and not accepted: b, c; accept this on the session page or with POST …/accept, or send unchecked: true",
    ]);
    const first = await accept(session, { ...body, changes: ["b"] });
    assert.equal(first.status, 200);
    assert.equal((await first.json()).variant.check.status, "fail");
    assert.match((await refusal(await publish(session)))[1], /a change that was not examined .*: c;/);

    const second = await acceptOnPage(session, session.shareUrl, { ...body, changes: ["b", "c"] });
    assert.equal(second.status, 200);
    const { variant } = await second.json();
    assert.deepEqual(variant.check, { status: "warn", at });
    assert.deepEqual(await listAccepted(session, 1), [
      ["a", null],
      ["b", "caller 1"],
      ["c", "person 1"],
    ]);
    const updates = only(await readEvents(service, session.sessionId), "variant.updated");
    assert.deepEqual(
      updates.map((update) => update.variant.check?.status),
      [undefined, "fail", "fail", "warn"],
    );

    await service.close({ keepFiles: true });
    service = await openTestService({}, dataDir);
    assert.equal(await statusOf(session), "warn");
    const rows = await service.container.services.db.select().from(checkAcceptances);
    const own = rows.filter(({ sessionId }) => sessionId === session.sessionId);
    assert.deepEqual(
      own.map(({ changeId, revision, actor }) => [changeId, revision, actor.split(":")[0]]).sort(),
      [
        ["b", 1, "key"],
        ["c", 1, "share"],
      ],
    );
    const published = await publish(session);
    assert.equal(published.status, 201);
    assert.equal((await published.json()).publication.isUnchecked, false);
  });

  it("changes nothing when it is repeated, and once when two callers accept at the same time", async () => {
    const { session, at } = await makeChecked();
    const body = { revision: 1, checkedAt: at, changes: ["b", "c", "b"] };
    const answers = await Promise.all([1, 2, 3, 4].map(() => accept(session, body)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const accepted = await readRevision(service, session.sessionId, 1);
    assert.equal((await accept(session, body)).status, 200);
    assert.deepEqual(await readRevision(service, session.sessionId, 1), accepted);
    const updates = only(await readEvents(service, session.sessionId), "variant.updated");
    assert.deepEqual(
      updates.map((update) => update.variant.check?.status),
      [undefined, "fail", "warn"],
    );
  });

  it("refuses changes that failed, were proved or are unknown, and stores nothing then", async () => {
    const session = await service.create("work");
    await service.completed(session.statusUrl);
    await revise(session, 0, [textOf("a"), textOf("b"), textOf("c")]);
    const about = { revision: 1, checkedAt: new Date().toISOString() };
    assert.deepEqual(await refusal(await accept(session, { ...about, changes: ["a"] })), [
      409,
      "revision: revision 1 was not checked",
    ]);
    const { at } = await recordOutcomes(session, 1, { a: "proved", b: "failed", c: "not_examined" });
    for (const [changes, status, error] of [
      [["c", "b"], 409, "changes: b failed; only changes that were not examined can be accepted"],
      [["a", "c"], 409, "changes: a was proved; there is nothing to accept"],
      [["c", "nope"], 400, "changes: the check has no change nope"],
      [["../c"], 400, "changes[0]: must be 1 to 32 letters, digits, _ and -"],
      [[], 400, "changes: must name a change"],
    ] as const) {
      const answer = await accept(session, { revision: 1, checkedAt: at, changes });
      assert.deepEqual(await refusal(answer), [status, error]);
    }
    assert.deepEqual(
      (await listAccepted(session, 1))?.map(([, accepted]) => accepted),
      [null, null, null],
    );
    // What was not examined is accepted, and the check still fails because of the other change.
    assert.equal((await accept(session, { revision: 1, checkedAt: at, changes: ["c"] })).status, 200);
    assert.equal(await statusOf(session), "fail");
    assert.match((await refusal(await publish(session)))[1], /revision 1 of variant main failed its check/);
    assert.equal((await accept({ ...session, sessionId: "ses_none" }, about)).status, 404);
  });

  it("refuses what the caller has not read: another revision, and an earlier check", async () => {
    const { session, at } = await makeChecked();
    const body = { revision: 1, changes: ["b", "c"] };
    const later = "2126-12-01T00:00:00.000Z";
    await recordOutcomes(session, 1, { b: "not_examined", c: "not_examined" }, { at: later });
    assert.deepEqual(await refusal(await accept(session, { ...body, checkedAt: at })), [
      409,
      `checkedAt: the newest check of revision 1 is from ${later}; read it`,
    ]);
    await revise(session, 1, [textOf("b")]);
    assert.deepEqual(await refusal(await accept(session, { ...body, checkedAt: later })), [
      409,
      "revision: the newest revision is 2; read it and its check",
    ]);
  });

  it("holds for later checks and revisions as long as the change and what was examined are the same", async () => {
    const { session, at } = await makeChecked();
    await accept(session, { revision: 1, checkedAt: at, changes: ["b", "c"] });
    const unexamined = { b: "not_examined", c: "not_examined" } as const;
    assert.equal((await recordOutcomes(session, 1, unexamined)).status, "warn", "the same check again");
    const wider = await recordOutcomes(session, 1, unexamined, { viewports: ["desktop", "phone"] });
    assert.equal(wider.status, "fail", "not examined at another width");
    const other = await recordOutcomes(session, 1, unexamined, { reason: "A form was not submitted." });
    assert.equal(other.status, "fail", "not examined for another reason");

    await revise(session, 1, [textOf("a", "other"), { ...textOf("b"), note: "A note." }, textOf("c", "new")]);
    assert.equal(await statusOf(session), undefined, "a new revision has no check");
    await recordOutcomes(session, 2, { a: "proved", ...unexamined });
    assert.deepEqual(await listAccepted(session, 2), [
      ["a", null],
      ["b", "caller 1"],
      ["c", null],
    ]);
    assert.equal(await statusOf(session), "fail");
    const failed = await recordOutcomes(session, 2, { a: "proved", b: "failed", c: "proved" });
    assert.equal(failed.status, "fail", "an accepted change can fail later");
    assert.deepEqual(await listAccepted(session, 2), [
      ["a", null],
      ["b", null],
      ["c", null],
    ]);
  });

  it("is refused without the right to publish", async () => {
    const { session, at } = await makeChecked();
    const body = { revision: 1, checkedAt: at, changes: ["b", "c"] };
    const created = await service.call("POST", `/api/sessions/${session.sessionId}/share-links`, {
      role: "view",
    });
    const watching = await acceptOnPage(session, (await created.json()).shareUrl, body);
    assert.deepEqual(await refusal(watching), [403, "this share link may view, not drive"]);
    const other = await accept(session, body, { authorization: `Bearer ${OTHER_KEY}` });
    assert.equal(other.status, 404);
    // The credential with which the agent and the holders of its tools reach the service's own tool server.
    const minted = await service.call("POST", `/api/sessions/${session.sessionId}/mcp-token`);
    const { token } = (await minted.json()) as { token: string };
    assert.equal(typeof token, "string");
    const agent = await accept(session, body, { authorization: `Bearer ${token}` });
    assert.equal(agent.status, 401);
    assert.equal((await accept(session, body, { authorization: "" })).status, 401);
    assert.equal(await statusOf(session), "fail");
  });
});

/** Accepts as the holder of a share link, on the session page. */
const acceptOnPage = (session: Session, shareUrl: string, body: object) =>
  accept(session, body, {
    authorization: "",
    cookie: `share=${new URL(shareUrl, service.env.baseUrl).searchParams.get("key")}`,
    origin: service.env.baseUrl,
  });
