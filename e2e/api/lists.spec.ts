import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import {
  API_KEY,
  type CreatedSession,
  type RunningService,
  startService,
  userMessage,
} from "../fixtures/service.ts";
import { expectRefusal } from "./expect-refusal.ts";

let service: RunningService;
let model: ScriptedModel;
const created: CreatedSession[] = [];

test.beforeAll(async () => {
  model = await startScriptedModel({ script: { otherwise: { text: "Done." } } });
  service = await startService({
    OPENAI_BASE_URL: model.baseUrl,
    SERVICE_API_KEYS: `lists=${API_KEY},limited=key-with-a-create-limit,polled=key-with-a-poll-limit`,
    RATE_LIMIT_CREATE: "12",
    RATE_LIMIT_POLL: "300",
    RATE_LIMIT_ANNOTATE: "7",
  });
  for (let index = 0; index < 5; index++)
    created.push(
      await service.create(`Session ${index}\nmore`, { targetUrl: `https://shop.example/${index}` }),
    );
  for (const { statusUrl } of created) await service.completed(statusUrl);
});
test.afterAll(async () => {
  await service.close();
  await model.close();
});

type Page = { success: boolean; data: Record<string, unknown>[]; nextCursor: string | null };
/** Reads all pages of a list, one after the other. */
async function walk(path: string, limit: number): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | null = ""; cursor !== null; cursor = pages.at(-1)?.nextCursor ?? null)
    pages.push(await service.read<Page>(`${path}?limit=${limit}${cursor && `&cursor=${cursor}`}`));
  return pages;
}

test.describe("GET /api/sessions", () => {
  test("lists the owner's sessions, newest first, in pages", async () => {
    const pages = await walk("/api/sessions", 2);
    expect(pages.map(({ data }) => data.length)).toEqual([2, 2, 1]);
    const all = pages.flatMap(({ data }) => data);
    expect(all.map(({ id }) => id)).toEqual(created.map(({ sessionId }) => sessionId).reverse());
    expect(all[4]).toEqual({
      id: created[0]?.sessionId,
      title: "Session 0",
      targetUrl: "https://shop.example/0",
      source: "api",
      isStructured: false,
      turnState: "idle",
      lastOutcome: "succeeded",
      shareUrl: created[0]?.shareUrl,
      // The host of the target page does not exist.
      state: "page_error",
      stateReason: expect.stringContaining("shop.example"),
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test("has no next page after a last page that is exactly full", async () => {
    const page = await service.read<Page>("/api/sessions?limit=5");
    expect([page.success, page.data.length, page.nextCursor]).toEqual([true, 5, null]);
  });
});

test.describe("every list", () => {
  test("refuses invalid limits and cursors", async () => {
    const session = `/api/sessions/${created[0]?.sessionId}`;
    const sessions = Buffer.from("+275760-01-01T00:00:00.000Z ses_a").toString("base64url");
    for (const [path, most] of [
      ["/api/sessions", 100],
      [`${session}/annotations`, 100],
      [`${session}/deliveries`, 100],
      [`${session}/messages`, 200],
    ] as const) {
      for (const limit of ["0", String(most + 1)])
        await expectRefusal(
          await service.call("GET", `${path}?limit=${limit}`),
          400,
          "invalid_request",
          `limit: must be from 1 to ${most}`,
        );
      for (const limit of ["", "-1", "1.5", "ten", "1e1"])
        await expectRefusal(
          await service.call("GET", `${path}?limit=${limit}`),
          400,
          "invalid_request",
          "limit: must be a whole number",
        );
      for (const cursor of ["%00", "a%20b", ""])
        await expectRefusal(
          await service.call("GET", `${path}?cursor=${cursor}`),
          400,
          "invalid_request",
          /^cursor: /,
        );
    }
    for (const cursor of ["abc", sessions, Buffer.from("2026-01-01T00:00:00.000Z \0").toString("base64url")])
      await expectRefusal(
        await service.call("GET", `/api/sessions?cursor=${cursor}`),
        400,
        "invalid_request",
        "cursor: is not one that this list gave",
      );
    const zero = Buffer.from("0000-01-01T00:00:00.000Z ses_a").toString("base64url");
    for (const [path, cursor] of [
      ["/api/sessions", zero],
      [`${session}/annotations`, "ann_aaaaaaaaaaaaaaaaaaaaaaaa"],
      [`${session}/deliveries`, "whd-00000000-0000-4000-8000-000000000000"],
    ])
      await expectRefusal(
        await service.call("GET", `${path}?cursor=${cursor}`),
        400,
        "invalid_request",
        "cursor: is not one that this list gave",
      );
    await expectRefusal(
      await service.call("GET", `${session}/messages?cursor=999999999999999`),
      400,
      "invalid_request",
      /^cursor: /,
    );
  });

  test("of messages is oldest first", async () => {
    const pages = await walk(`/api/sessions/${created[0]?.sessionId}/messages`, 1);
    expect(pages.flatMap(({ data }) => data.map(({ seq, role }) => [seq, role]))).toEqual([
      [1, "user"],
      [2, "assistant"],
    ]);
    expect(pages[1]?.data[0]).toEqual({
      id: expect.stringMatching(/^msg_/),
      seq: 2,
      role: "assistant",
      parts: [{ type: "text", text: "Done." }],
      requestId: created[0]?.requestId,
      runId: created[0]?.runId,
      author: null,
      createdAt: expect.any(String),
    });
  });

  test("of annotations is newest first", async () => {
    const path = `/api/sessions/${created[1]?.sessionId}/annotations`;
    for (let index = 0; index < 3; index++)
      await service.call("POST", `${path}/webhook`, {
        event: "submit",
        annotations: [{ comment: String(index) }],
      });
    const pages = await walk(path, 2);
    expect(pages.flatMap(({ data }) => data.map(({ annotations }) => annotations))).toEqual(
      ["2", "1", "0"].map((comment) => [{ comment }]),
    );
  });
});

test.describe("rate limits", () => {
  const create = (key: string, body: unknown = { messages: [userMessage("Hi")] }) =>
    service.call("POST", "/api/session", body, { authorization: `Bearer ${key}` });

  test("apply per key, and are answered with 429, Retry-After and RateLimit headers", async () => {
    for (let left = 11; left >= 0; left--) {
      const response = await create("key-with-a-create-limit");
      expect(response.status).toBe(201);
      expect(response.headers.get("ratelimit-limit")).toBe("12");
      expect(Number(response.headers.get("ratelimit-remaining"))).toBeGreaterThanOrEqual(left);
    }
    let refused = await create("key-with-a-create-limit");
    // The service may allow an extra request, because the limit allows one more request every five seconds.
    for (let tries = 0; refused.status === 201 && tries < 3; tries++)
      refused = await create("key-with-a-create-limit");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get("ratelimit-remaining")).toBe("0");
    expect(Number(refused.headers.get("ratelimit-reset"))).toBeGreaterThanOrEqual(1);
    await expectRefusal(refused, 429, "rate_limited", /^too many requests; try again in \d+ s$/);
    expect((await create("key-with-a-poll-limit")).status).toBe(201);
  });

  test("write nothing, and do not count requests with an invalid body", async () => {
    const count = async () =>
      (
        await (
          await service.call("GET", "/api/sessions?limit=100", undefined, {
            authorization: "Bearer key-with-a-create-limit",
          })
        ).json()
      ).data.length;
    const before = await count();
    for (let round = 0; round < 20; round++)
      await expectRefusal(await create("key-with-a-poll-limit", { messages: [] }), 400, "invalid_request");
    expect((await create("key-with-a-poll-limit")).status).toBe(201);
    expect(await count()).toBe(before);
  });

  test("apply to the webhook per session, and their 429 has the CORS headers", async () => {
    const submit = (sessionId: string | undefined) =>
      service.call(
        "POST",
        `/api/sessions/${sessionId}/annotations/webhook`,
        { event: "submit", annotations: [] },
        { origin: "https://a.example" },
      );
    const responses = await Promise.all(Array.from({ length: 8 }, () => submit(created[2]?.sessionId)));
    expect(responses.map((response) => response.status).sort()).toEqual([...Array(7).fill(200), 429]);
    const refused = responses.find((response) => response.status === 429);
    expect(refused?.headers.get("access-control-allow-origin")).toBe("https://a.example");
    if (refused) await expectRefusal(refused, 429, "rate_limited");
    expect((await submit(created[3]?.sessionId)).status).toBe(200);
  });
});
