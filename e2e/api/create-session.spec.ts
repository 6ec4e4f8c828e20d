import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { type RunningService, startService, userMessage } from "../fixtures/service.ts";

let service: RunningService;
let model: ScriptedModel;

test.beforeAll(async () => {
  model = await startScriptedModel({ script: { otherwise: { text: "Done." } } });
  service = await startService({ OPENAI_BASE_URL: model.baseUrl });
});
test.afterAll(async () => {
  await service.close();
  await model.close();
});

test("answers 201 with every field of the creation response, and Location", async () => {
  const response = await service.call("POST", "/api/session", { messages: [userMessage("Hello")] });
  expect(response.status).toBe(201);
  const body = await response.json();
  expect(Object.keys(body).sort()).toEqual([
    "requestId",
    "runId",
    "sessionId",
    "shareUrl",
    "statusUrl",
    "streamUrl",
    "success",
  ]);
  expect(body.sessionId).toMatch(/^ses_[a-z2-7]{24}$/);
  expect(response.headers.get("location")).toBe(body.statusUrl);
});
