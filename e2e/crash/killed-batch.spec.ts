import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { startService } from "../fixtures/service.ts";
import { haveEnded, readLog } from "./read-log.ts";

const TURNS = 24;

let model: ScriptedModel;
test.beforeAll(async () => {
  const list = { name: "list_evidence", arguments: {} };
  model = await startScriptedModel({
    script: { rules: [{ when: "[batch]", steps: [{ toolCalls: [list] }, { text: "Done." }] }] },
  });
});
test.afterAll(() => model.close());

for (const arrival of [1, 3])
  test(`steps of several turns in one statement are neither lost nor written twice (kill ${arrival})`, async () => {
    const settings = { OPENAI_BASE_URL: model.baseUrl, SANDBOX: "unconfined" };
    const fault = { FAULT: `writes-shared:${arrival}:kill9`, FAULTS_ALLOWED: "1" };
    const killed = await startService({ ...settings, ...fault });
    const creations = await Promise.allSettled(
      Array.from({ length: TURNS }, (_, nth) =>
        killed.create(`[batch] ${nth}`, { capabilities: { browser: false } }),
      ),
    );
    const created = creations.flatMap((each) => (each.status === "fulfilled" ? [each.value.sessionId] : []));
    await expect
      .poll(() =>
        killed.call("GET", "/api/health").then(
          () => "up",
          () => "down",
        ),
      )
      .toBe("down");
    expect(created.length).toBeGreaterThan(1);
    const service = await startService(settings, { dataDir: killed.dataDir, port: killed.port });
    for (const sessionId of created) {
      const events = await readLog(service, sessionId, haveEnded(1));
      const kinds = events.map(({ kind }) => kind);
      for (const kind of ["run.started", "tool.call", "tool.result", "run.completed"])
        expect(kinds.filter((each) => each === kind)).toHaveLength(1);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    }
    await service.close();
  });
