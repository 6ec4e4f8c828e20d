import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "@playwright/test";
import { startToolServer, type ToolServer } from "../fixtures/mcp/start-tool-server.ts";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { type RunningService, startService } from "../fixtures/service.ts";
import { script, test } from "./journey.ts";

let folder: string;
let model: ScriptedModel;
let stock: ToolServer;
let service: RunningService;

test.beforeAll(async () => {
  model = await startScriptedModel();
  folder = await mkdtemp(join(tmpdir(), "tool-servers-"));
  stock = await startToolServer({
    tools: [
      {
        name: "reserve",
        async call(_, __, server) {
          const answer = await server.elicitInput({
            message: "Which size?",
            requestedSchema: {
              type: "object",
              properties: { size: { type: "string", enum: ["small", "large"] } },
              required: ["size"],
            },
          });
          return { content: [{ type: "text", text: `reserved: ${answer.content?.size ?? answer.action}` }] };
        },
      },
    ],
  });
  const certificate = join(folder, "certificate.pem");
  await writeFile(certificate, stock.certificate.cert);
  service = await startService({
    OPENAI_BASE_URL: model.baseUrl,
    NODE_EXTRA_CA_CERTS: certificate,
  });
});
test.afterAll(async () => {
  await service.close();
  await stock.close();
  await model.close();
  await rm(folder, { recursive: true, force: true });
});

test("a turn continues without an unreachable tool server, and a reachable one can ask the person a question", async ({
  page,
}) => {
  script(model, {
    "[first]": [
      { text: "I reserve it.", toolCalls: [{ name: "mcp_stock__reserve", arguments: {} }] },
      { text: "Nobody was asked." },
    ],
    "[again]": [
      { text: "I reserve it again.", toolCalls: [{ name: "mcp_stock__reserve", arguments: {} }] },
      { text: "It is reserved." },
    ],
  });
  const session = await service.create("[first]", {
    mcpServers: { dead: { url: "https://127.0.0.1:9/mcp" }, stock: { url: stock.url } },
  });
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Nobody was asked.")).toBeVisible();
  const missing = page.getByText(/^dead is not available in this turn: /);
  await expect(missing).toHaveCount(1);
  await expect(page.getByText("Called reserve on stock")).toBeVisible();

  await page.getByLabel("Message to the agent").fill("[again]");
  await page.getByLabel("Message to the agent").press("Enter");
  await expect(page.getByText("The tool server stock asks: Which size?")).toBeVisible();
  const question = page.getByRole("region", { name: /Which size/ });
  await question.getByRole("combobox").selectOption("large");
  await question.getByRole("button", { name: "Answer" }).click();
  await expect(page.getByText("It is reserved.")).toBeVisible();
  await expect(missing).toHaveCount(2);
  expect(model.requests.at(-1)?.toolResults.at(-1)).toMatch(/\nreserved: large\n/);
  await page.reload();
  await expect(missing).toHaveCount(2);
});
