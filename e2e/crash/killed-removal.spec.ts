import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import { startService, waitUntil } from "../fixtures/service.ts";

test("a removal that was killed halfway leaves no session, and the next start removes its files", async () => {
  const model = await startScriptedModel({
    script: {
      rules: [
        {
          when: "[write]",
          steps: [
            { toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "a" } }] },
            { text: "On and on.", hold: "once" },
          ],
        },
      ],
    },
  });
  const settings = { OPENAI_BASE_URL: model.baseUrl };
  // The fault kills the service after it has committed the removal to the database, and before it removes the files.
  const first = await startService({ ...settings, FAULT: "removal-half-done:1:kill9", FAULTS_ALLOWED: "1" });
  const { dataDir, port } = first;
  const { sessionId, statusUrl } = await first.create("[write] and wait");
  await model.waitForRequest(({ answersSoFar }) => answersSoFar === 1);
  const folder = join(dataDir, "workspaces", sessionId);
  expect(existsSync(folder)).toBe(true);
  await expect(first.call("DELETE", `/api/sessions/${sessionId}`)).rejects.toThrow();
  expect(existsSync(folder), "the service was killed before it removed the files").toBe(true);

  const second = await startService(settings, { dataDir, port });
  expect((await second.call("GET", statusUrl)).status).toBe(404);
  expect((await second.call("DELETE", `/api/sessions/${sessionId}`)).status).toBe(404);
  await waitUntil(() => !existsSync(folder), "the workspace has gone");
  const next = await second.create("Another session");
  await second.completed(next.statusUrl);
  expect(model.requests.filter(({ userText }) => userText.includes("[write]"))).toHaveLength(2);
  await second.close();
  await model.close();
});
