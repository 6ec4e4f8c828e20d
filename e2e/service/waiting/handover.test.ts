import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { sql } from "drizzle-orm";
import { WebSocket } from "ws";
import { queryRows } from "#db/statement.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { connectClient, type TestClient } from "#lib/api/live/testing.ts";
import { findTestChromium, startTestSite } from "#lib/browser/testing.ts";
import { endOverdueWaits } from "#lib/session/waiting/waiting.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { TEST_KEY, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "../turn/turn-testing.ts";
import { listItems, onlyItem, settle, untilTurnParked } from "./inbox-testing.ts";

let service: HttpTestService;
let site: Awaited<ReturnType<typeof startTestSite>>;
/** What the page has sent to its server. */
let received = "";
before(async () => {
  site = await startTestSite((request, response) => {
    if (request.method === "POST") {
      request.on("data", (chunk) => {
        received += chunk;
      });
      request.on("end", () => response.writeHead(204).end());
      return;
    }
    response.writeHead(200, { "content-type": "text/html" }).end(LOGIN);
  });
  service = await openHttpTestService({
    BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath,
    LOG_LEVEL: "debug",
  });
});
after(async () => {
  await service?.close();
  await site?.close();
});

/** The page echoes what is typed as the value of a field of another kind, and sends it to its server. */
const LOGIN = `<!doctype html><title>Sign in</title><h1>Sign in</h1>
  <form method=post action=/login onsubmit="event.preventDefault(); console.log(code.value)">
    <label>User <input id=user></label>
    <label>Code <input id=code oninput="fetch('/typed', { method: 'POST', body: value })"></label>
    <label>Notes <textarea id=notes>Nothing yet</textarea></label>
    <button>Sign in</button>
  </form>
  <script>code.addEventListener("keydown", (event) => { if (event.key === "F2") alert("You typed " + code.value); });</script>`;

const step = (name: string, input: Record<string, unknown> = {}): Step => ({
  toolCalls: [{ name, arguments: input }],
});
const open = () => step("browser_execute", { script: `await page.goto("${site.origin}/login");` });
const NEED = { need: "Sign in with the code from your phone" };
const HAND_OVER = step("request_handover", NEED);
const ASK = { interaction: { mode: "ask" } };

const play = (steps: Step[], more: Record<string, unknown> = {}) => {
  service.model.respondWith(({ kind, answersSoFar }) => {
    if (kind === "probe") return { text: "{", finish: "length" };
    if (kind === "structured") return { json: { title: "Shop" } };
    return steps[answersSoFar] ?? { text: "Done." };
  });
  return service.create("Sign in to the shop", { ...ASK, ...more });
};

const connect = async (sessionId: string): Promise<TestClient & { id: string }> => {
  const client = connectClient(
    new WebSocket(`${service.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`, {
      headers: { "x-service-api-key": TEST_KEY },
    }),
  );
  await client.ready();
  client.send({ type: "view.subscribe" });
  const [id] = client.frames.flatMap((frame) => (frame.type === "ready" ? [frame.data.connectionId] : []));
  return Object.assign(client, { id: id ?? "" });
};

const untilOpen = async (session: { sessionId: string }) => {
  await waitUntil(
    async () => (await listItems(service, session, "?state=open")).length === 1,
    "the browser is handed over",
    60_000,
  );
  await untilTurnParked(service, session);
  return onlyItem(service, session);
};
const resultsOf = async ({ sessionId }: { sessionId: string }) =>
  only(await readEvents(service, sessionId), "tool.result")
    .filter(({ toolName }) => toolName !== "browser_execute")
    .map(({ preview }) => preview);

/** Types a text into a field as the person who has control. */
async function fill(client: TestClient, key: "Tab", text: string): Promise<void> {
  for (const action of ["down", "up"] as const)
    client.send({ type: "input.key", action, key, code: key, modifiers: 0 });
  for (const character of text) client.send({ type: "input.text", text: character });
}

describe("a handover of the browser", () => {
  it("keeps what the person types out of everything, and tells the agent the page and the names of the fields", async () => {
    const secret = `otp-${crypto.randomUUID()}`;
    received = "";
    const session = await play([
      open(),
      HAND_OVER,
      step("dom_query", {}),
      step("browser_search", { query: "otp-" }),
      step("save_cleaned_html", {}),
      step("dom_query", { selector: "#code, #user", attributes: ["value"] }),
    ]);
    const { sessionId } = session;
    const item = await untilOpen(session);
    assert.partialDeepStrictEqual(item, { kind: "handover", title: NEED.need, body: NEED.need });
    const status = (await readStatus(service, sessionId)) as unknown as { waitingOn: object };
    assert.partialDeepStrictEqual(status.waitingOn, { kind: "person", ids: [item.id] });

    const [ada, bob] = [await connect(sessionId), await connect(sessionId)];
    await waitUntil(() => ada.frames.some((frame) => frame.type === "control"), "the handover is told");
    // Before a person has control, no connection gets pictures.
    assert.deepEqual([ada.pictures.length, bob.pictures.length], [0, 0]);
    const recorded = (await service.read<{ data: unknown[] }>(`/api/sessions/${sessionId}/recording`)).data;
    ada.send({ type: "control.take" });
    await waitUntil(() => ada.pictures.length > 0, "the person in control gets pictures");
    await fill(ada, "Tab", "ada");
    await fill(ada, "Tab", secret);
    ada.send({ type: "input.key", action: "down", key: "F2", code: "F2", modifiers: 0 });
    await waitUntil(() => received.includes(secret), "the page has what was typed");
    await ada.settle();
    assert.equal(bob.pictures.length, 0, "others get no picture");
    // Tools of other agents are refused meanwhile.
    assert.equal((await onlyItem(service, session)).state, "open");
    ada.send({ type: "control.release", note: "I had the phone" });
    await service.completed(session.statusUrl, 60_000);

    const [handover = "", ...seen] = await resultsOf(session);
    assert.match(handover, /^A person has done it\./);
    assert.match(handover, /filled "User", "Code"/);
    assert.match(handover, /Page: "Sign in" "http:\/\/127\.0\.0\.1:\d+\/login"/);
    assert.match(handover, /I had the phone/);
    assert.match(seen[0] ?? "", /textbox "Code" \[e\d+\] value "•••"/);
    assert.match(seen[0] ?? "", /textbox "Notes" \[e\d+\] value "Nothing yet"/);
    assert.partialDeepStrictEqual(await onlyItem(service, session), { state: "done", settledBy: "person" });
    await waitUntil(() => bob.pictures.length > 0, "afterwards, others get pictures again");
    const later = (await service.read<{ data: { callId: string }[] }>(`/api/sessions/${sessionId}/recording`))
      .data;
    assert.ok(later.length >= recorded.length);

    await assertNowhere(secret, sessionId);
    ada.socket.close();
    bob.socket.close();
  });

  it("is over when a program says so, waits until the person gives back, and masks fields until the document is left", async () => {
    const session = await play([open(), HAND_OVER, step("dom_query", {}), open(), step("dom_query", {})]);
    const { id } = await untilOpen(session);
    const ada = await connect(session.sessionId);
    ada.send({ type: "control.take" });
    // What is typed before control has come is dropped.
    await waitUntil(() => ada.pictures.length > 0, "the person in control gets pictures");
    await fill(ada, "Tab", "ada");
    await ada.settle();
    const odd = await settle(service, session, id, { answer: "yes" });
    assert.deepEqual([odd.status, odd.error], [400, "answer: this item takes done or decline"]);
    const settled = await settle(service, session, id, { done: true, note: "Signed in" });
    assert.deepEqual(
      [settled.status, settled.item?.state, settled.item?.settledBy],
      [200, "done", "program"],
    );
    assert.deepEqual((await settle(service, session, id, { decline: true })).state, "done");
    const { sessionId } = session;
    await waitUntil(async () => {
      const { waitingOn } = (await readStatus(service, sessionId)) as unknown as {
        waitingOn: { kind: string } | null;
      };
      return waitingOn?.kind === "control";
    }, "the turn waits for the end of control");
    ada.send({ type: "control.release" });
    await service.completed(session.statusUrl, 60_000);
    const [handover = "", masked = "", left = ""] = await resultsOf(session);
    assert.match(handover, /^A person has done it\. Note from this person to you: "Signed in"/);
    assert.match(masked, /textbox "User" \[e\d+\] value "•••"/);
    assert.doesNotMatch(left, /•••/);
    ada.socket.close();
  });

  it("shows nothing of the page through annotations: no description, no element that is found, no picture", async () => {
    const session = await play([open(), HAND_OVER]);
    const { sessionId } = session;
    const api = `/api/sessions/${sessionId}`;
    await untilOpen(session);
    const ada = await connect(sessionId);
    ada.send({ type: "control.take" });
    await waitUntil(() => ada.pictures.length > 0, "the person in control gets pictures");
    await fill(ada, "Tab", "ada");
    await ada.settle();
    const post = async (path: string, body: object = {}) => {
      const response = await service.call("POST", `${api}/${path}`, body);
      assert.ok(response.ok, `${path}: ${await response.clone().text()}`);
      return (await response.json()) as { target?: unknown; data?: unknown; statusUrl?: string };
    };
    const element = { kind: "element", x: 20, y: 30 };
    assert.equal((await post("annotations/target", element)).target, null);
    const note = { type: "element", selector: "#user", element: "input", comment: "Is it filled?" };
    await post("annotations/webhook", {
      event: "submit",
      url: `${site.origin}/login`,
      annotations: [note],
    });
    assert.deepEqual((await post("annotations/locate")).data, []);
    const { data } = await service.read<{ data: { id: string; status: string }[] }>(`${api}/annotations`);
    assert.equal(data[0]?.status, "open");
    const ids = data.map(({ id }) => id);
    await post("agent/messages", { text: "Look", annotations: ids });
    const evidence = await service.container.services.evidence.list(sessionId);
    assert.deepEqual(evidence, []);
    ada.send({ type: "control.release" });
    await post("agent/cancel");
    ada.socket.close();
  });

  it("can be declined, and expires", async () => {
    const declined = await play([HAND_OVER]);
    const { id } = await untilOpen(declined);
    assert.equal((await settle(service, declined, id, { decline: true })).status, 200);
    await service.completed(declined.statusUrl, 60_000);
    const advice =
      "Do not wait and do not ask again: continue without it, and say in your reply what is left to do.";
    assert.deepEqual(await resultsOf(declined), [`The person did not do it: they declined. ${advice}`]);

    const expired = await play([HAND_OVER]);
    await untilOpen(expired);
    await endOverdueWaits(service.container.services, new Date(Date.now() + 100_000_000));
    await service.completed(expired.statusUrl, 60_000);
    assert.deepEqual(await resultsOf(expired), [`No person took over in time. ${advice}`]);
    assert.equal((await onlyItem(service, expired)).state, "expired");
  });

  it("fails the run after its deadline with onTimeout fail, and takes the first of two people", async () => {
    const interaction = { mode: "ask", timeoutSeconds: 10, onTimeout: "fail" };
    const failed = await play([HAND_OVER], { interaction });
    await untilOpen(failed);
    await endOverdueWaits(service.container.services, new Date(Date.now() + 60_000));
    await service.completed(failed.statusUrl, 60_000);
    const [end] = only(await readEvents(service, failed.sessionId), "run.completed");
    assert.equal(end?.outcome, "errored");
    assert.match(end?.error ?? "", /No person answered in time: Sign in with the code/);
    assert.equal((await onlyItem(service, failed)).state, "expired");

    const session = await play([HAND_OVER]);
    const { id } = await untilOpen(session);
    const cookie = `share=${new URL(session.shareUrl, service.baseUrl).searchParams.get("key")}`;
    const asPerson = (body: object) =>
      service.call("POST", `/s/${session.sessionId}/actions/inbox/${id}`, body, {
        authorization: "",
        cookie,
        origin: service.env.baseUrl,
      });
    const both = await Promise.all([asPerson({ done: true }), asPerson({ decline: true })]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409]);
    await service.completed(session.statusUrl, 60_000);
    assert.equal((await resultsOf(session)).length, 1);
    const { state } = await onlyItem(service, session);
    assert.equal(state, both[0]?.status === 200 ? "done" : "declined");
  });

  it("is withdrawn by a stop, after which everyone may see the page again", async () => {
    const session = await play([open(), HAND_OVER]);
    const { sessionId } = session;
    await untilOpen(session);
    const bob = await connect(sessionId);
    await waitUntil(
      () => bob.frames.some((frame) => frame.type === "control" && frame.data.isPrivate),
      "private",
    );
    assert.equal(bob.pictures.length, 0);
    const stopped = await service.call("POST", `/api/sessions/${sessionId}/agent/cancel`);
    assert.ok(stopped.ok);
    await service.completed(session.statusUrl, 60_000);
    assert.equal((await onlyItem(service, session)).state, "withdrawn");
    await waitUntil(() => bob.pictures.length > 0, "the view goes on", 30_000);
    bob.socket.close();
  });

  it("is refused at once in a turn that may not ask", async () => {
    const session = await play([HAND_OVER], { interaction: { mode: "decline" } });
    await service.completed(session.statusUrl, 60_000);
    assert.deepEqual(await resultsOf(session), [
      "No person can take over: this turn was not started by a person. Do not wait and do not ask again: continue without it, and say in your reply what is left to do.",
    ]);
    assert.deepEqual(await listItems(service, session), []);
  });
});

/** Checks that a text is in no table, file, event, export or request of the model. */
async function assertNowhere(secret: string, sessionId: string): Promise<void> {
  const { db } = service.container.services;
  const tables = await db.transaction((tx) =>
    queryRows<{ name: string }>(
      tx,
      sql`select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    ),
  );
  assert.ok(tables.length > 40, `only ${tables.length} tables`);
  for (const { name } of tables) {
    const rows = await db.transaction((tx) =>
      queryRows<{ count: number }>(
        tx,
        sql`select count(*)::int as count from ${sql.raw(name)} as t where strpos(t::text, ${secret}) > 0 or strpos(t::text, ${Buffer.from(secret).toString("hex")}) > 0`,
      ),
    );
    assert.equal(rows[0]?.count, 0, `the table ${name} has the secret`);
  }
  const files = await readdir(service.dataDir, { recursive: true, withFileTypes: true });
  for (const file of files) {
    if (!file.isFile()) continue;
    const bytes = await readFile(join(file.parentPath, file.name)).catch(() => Buffer.alloc(0));
    assert.ok(!bytes.includes(secret), `${join(file.parentPath, file.name)} has the secret`);
  }
  const requests = service.model.requests.map(({ body }) => JSON.stringify(body)).join("\n");
  assert.ok(requests.includes("A person has done it"), "the requests of the model are read");
  assert.ok(!requests.includes(secret), "a request of the model has the secret");
  for (const path of ["export", "export?format=html", "messages", "inbox", "browser", "agent/status"]) {
    const response = await service.call("GET", `/api/sessions/${sessionId}/${path}`);
    assert.ok(!(await response.text()).includes(secret), `${path} has the secret`);
  }
}
