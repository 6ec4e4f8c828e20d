import { expect, test } from "@playwright/test";
import { WebSocket } from "ws";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { API_KEY, type RunningService, startService, waitUntil } from "../fixtures/service.ts";
import { expectBare, expectRefusal } from "./expect-refusal.ts";

let service: RunningService;
let model: ScriptedModel;
let sessionId: string;
const PAGE = "https://shop.example";

test.beforeAll(async () => {
  model = await startScriptedModel({ script: { otherwise: { text: "Done." } } });
  service = await startService({ OPENAI_BASE_URL: model.baseUrl });
  ({ sessionId } = await service.create("Hello"));
});
test.afterAll(async () => {
  await service.close();
  await model.close();
});

/** Submits annotations in the way a page in the session's browser does: with the page's origin, without an API key. */
const submit = (
  body: unknown,
  options: { id?: string; method?: string; headers?: Record<string, string> } = {},
) =>
  fetch(`${service.baseUrl}/api/sessions/${options.id ?? sessionId}/annotations/webhook`, {
    method: options.method ?? "POST",
    headers: { "content-type": "application/json", origin: PAGE, ...options.headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
const submission = {
  event: "submit",
  output: "## Feedback\n1. Larger, please",
  annotations: [{ type: "click", selector: "#pay", comment: "Larger, please" }],
  url: "https://shop.example/checkout",
};
const listAnnotations = async (query = "") =>
  service.read<{ data: Record<string, unknown>[]; nextCursor: string | null }>(
    `/api/sessions/${sessionId}/annotations${query}`,
  );

test.describe("the annotation webhook", () => {
  test("answers 200 { ok: true } without a key, and records the body against the session", async () => {
    const response = await submit(submission);
    expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
    const { data } = await listAnnotations();
    expect(data[0]).toMatchObject({
      ...submission,
      id: expect.stringMatching(/^ann_/),
      createdAt: expect.any(String),
    });
  });

  test("stores the agentation overlay's payload unchanged, with its unknown keys", async () => {
    const payload = {
      event: "submit",
      timestamp: 1_790_000_000_000,
      output: "# Page feedback",
      annotations: [
        {
          id: "1790000000000",
          x: 51.2,
          y: 340,
          comment: "Move this",
          element: 'button "Pay"',
          elementPath: "main > form > button",
          boundingBox: { x: 10, y: 20, width: 100, height: 30 },
          isFixed: false,
        },
      ],
      url: "https://shop.example/cart",
    };
    expect((await submit(payload)).status).toBe(200);
    expect((await listAnnotations()).data[0]).toMatchObject(payload);
  });

  test("accepts events other than submit, and requests without an Origin", async () => {
    expect((await submit({ event: "annotation.add" })).status).toBe(200);
    expect(
      (await submit({ event: "submit", annotations: [] }, { headers: { "content-type": "text/plain" } }))
        .status,
    ).toBe(200);
    const bare = await fetch(`${service.baseUrl}/api/sessions/${sessionId}/annotations/webhook`, {
      method: "POST",
      body: JSON.stringify(submission),
    });
    expect([bare.status, bare.headers.has("access-control-allow-origin")]).toEqual([200, false]);
  });

  test("answers a malformed or missing body with 400 { error: `invalid JSON body` }", async () => {
    for (const body of [
      undefined,
      "",
      "{",
      "hello",
      "{'event':'submit'}",
      '{"event":"submit",}',
      '{"event":"\\ud800"}',
      `${"[".repeat(500)}`,
    ])
      await expectBare(await submit(body), 400, "invalid JSON body");
  });

  test("answers a wrong field with 400 and its name", async () => {
    const refused: [unknown, RegExp][] = [
      [null, /^body: must be an object$/],
      [[], /^body: must be an object$/],
      ['"x"', /^body: must be an object$/],
      [{}, /^event: /],
      [{ event: "" }, /^event: /],
      [{ event: 5 }, /^event: /],
      [{ event: "submit" }, /^annotations: /],
      [{ event: "submit", annotations: {} }, /^annotations: /],
      [{ event: "submit", annotations: null }, /^annotations: /],
      [{ event: "submit", annotations: ["x"] }, /^annotations\[0\]: /],
      [{ event: "submit", annotations: [{}, { type: 5 }] }, /^annotations\[1\]\.type: /],
      [{ event: "submit", annotations: [{ selector: {} }] }, /^annotations\[0\]\.selector: /],
      [{ event: "submit", annotations: [{ comment: null }] }, /^annotations\[0\]\.comment: /],
      [{ event: "submit", annotations: [], output: 5 }, /^output: /],
      [{ event: "submit", annotations: [], url: "nowhere" }, /^url: /],
      [{ event: "submit", annotations: [], url: 5 }, /^url: /],
    ];
    const before = (await listAnnotations()).data.length;
    for (const [body, error] of refused)
      await test.step(JSON.stringify(body), async () => {
        const response = await submit(body);
        expect(response.status).toBe(400);
        expect(await response.json()).toEqual({ error: expect.stringMatching(error) });
      });
    expect((await listAnnotations()).data.length).toBe(before);
  });

  test("answers 404 { error: `not found` } for an unknown session", async () => {
    for (const id of ["ses_aaaaaaaaaaaaaaaaaaaaaaaa", "UPPER", "%00", "a".repeat(300)])
      await expectBare(await submit(submission, { id }), 404, "not found");
  });

  test("answers a body over 256 KiB with 413", async () => {
    const fits = { ...submission, output: "x".repeat(250 * 1024) };
    expect((await submit(fits)).status).toBe(200);
    await expectRefusal(
      await submit({ ...submission, output: "x".repeat(256 * 1024) }),
      413,
      "payload_too_large",
    );
  });

  test("answers methods other than POST with 405 { error: `method not allowed` } and an Allow header", async () => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE", "PROPFIND"]) {
      const response = await submit(undefined, { method });
      expect(response.headers.get("allow")).toBe("POST, OPTIONS");
      await expectBare(response, 405, "method not allowed");
    }
  });

  test("answers OPTIONS as a preflight that allows the request's origin", async () => {
    for (const origin of [PAGE, "http://127.0.0.1:9", "null"]) {
      const headers = {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
      };
      const response = await submit(undefined, { method: "OPTIONS", headers });
      expect([response.status, await response.text()]).toEqual([204, ""]);
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      expect(response.headers.get("access-control-allow-methods")).toBe("POST, OPTIONS");
      expect(response.headers.get("access-control-allow-headers")).toBe("content-type");
      expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    }
  });

  test("sends the CORS headers with every status, and never allows credentials", async () => {
    const responses = [
      await submit(submission),
      await submit("{"),
      await submit({}),
      await submit(submission, { id: "ses_unknown" }),
      await submit(undefined, { method: "DELETE" }),
      await submit("x".repeat(300 * 1024)),
    ];
    expect(responses.map((response) => response.status)).toEqual([200, 400, 400, 404, 405, 413]);
    for (const response of responses) {
      expect(response.headers.get("access-control-allow-origin")).toBe(PAGE);
      expect(response.headers.get("vary")?.toLowerCase()).toContain("origin");
      expect(response.headers.has("access-control-allow-credentials")).toBe(false);
    }
  });

  test("broadcasts an accepted annotation to all connected WebSocket clients, and starts no turn", async () => {
    const created = await service.create("Listen");
    await service.completed(created.statusUrl);
    const frames: { type: string; data: { annotation?: unknown } }[][] = [[], []];
    const sockets = frames.map((seen) => {
      const socket = new WebSocket(
        `${service.baseUrl.replace("http", "ws")}/api/sessions/${created.sessionId}/live`,
        {
          headers: { authorization: `Bearer ${API_KEY}` },
        },
      );
      socket.on("message", (bytes, isBinary) => void (isBinary || seen.push(JSON.parse(String(bytes)))));
      return socket;
    });
    await Promise.all(sockets.map((socket) => new Promise((done) => socket.once("open", done))));
    expect((await submit(submission, { id: created.sessionId })).status).toBe(200);
    for (const seen of frames) {
      await waitUntil(
        () => seen.some(({ type }) => type === "annotation.submitted"),
        "the annotation was broadcast",
      );
      const frame = seen.find(({ type }) => type === "annotation.submitted");
      expect(frame?.data.annotation).toMatchObject(submission);
    }
    for (const socket of sockets) socket.close();
    expect(await service.read(`/api/sessions/${created.sessionId}/agent/status`)).toMatchObject({
      turnState: "idle",
      lastRunId: created.runId,
      queued: 0,
    });
  });
});
