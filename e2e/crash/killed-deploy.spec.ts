import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import { startService } from "../fixtures/service.ts";
import { haveEnded, readLog } from "./read-log.ts";

test("a deploy that was killed before its call was recorded is repeated without a second version", async () => {
  const call = (name: string, input: Record<string, unknown>) => ({
    toolCalls: [{ name, arguments: input }],
  });
  const steps = [
    call("write_file", { path: "site/index.html", content: "<h1>Once</h1>" }),
    call("deploy_landing_page", { folder: "site", slug: "once" }),
    { text: "Deployed." },
  ];
  const model = await startScriptedModel({ script: { rules: [{ when: "[deploy]", steps }] } });
  const settings = { OPENAI_BASE_URL: model.baseUrl };
  // The fault kills the service after the second tool call of the turn, which is the deploy.
  const first = await startService({ ...settings, FAULT: "tool-ended:2:kill9", FAULTS_ALLOWED: "1" });
  const { dataDir, port } = first;
  const created = await first.create("[deploy] a page");
  await expect
    .poll(() =>
      first.call("GET", "/api/health").then(
        () => "up",
        () => "down",
      ),
    )
    .toBe("down");

  const second = await startService(settings, { dataDir, port });
  await second.completed(created.statusUrl);
  const { data } = await second.read<{ data: { number: number }[] }>("/api/pages/once/versions");
  expect(data.map(({ number }) => number)).toEqual([1]);
  const events = await readLog(second, created.sessionId, haveEnded(1));
  const deployed = events.filter(({ kind }) => kind === "page.deployed");
  expect(deployed).toHaveLength(1);
  const results = model.requests.findLast(({ kind }) => kind === "turn")?.toolResults ?? [];
  expect(results[1]).toMatch(/^Deployed version 1 of once: 1 file, 13 bytes\./);
  const page = await fetch(`${second.baseUrl}/p/once/`);
  expect([page.status, await page.text()]).toEqual([200, "<h1>Once</h1>"]);
  await second.close();
  await model.close();
});
