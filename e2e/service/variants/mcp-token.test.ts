import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { findTestChromium } from "#lib/browser/testing.ts";
import {
  callTool,
  listNames,
  type McpService,
  openMcpService,
  readText,
} from "../mcp-server/builtin-mcp-testing.ts";
import { listVariants, openSite } from "./variants-testing.ts";

let mcp: McpService;
let site: Awaited<ReturnType<typeof openSite>>;

before(async () => {
  const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
  site = await openSite((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end('<!doctype html><title>Shop</title><button id="pay">Pay</button>');
  });
  mcp = await openMcpService({ BROWSER_EXECUTABLE_PATH, SANDBOX: "unconfined" });
});
after(async () => {
  await mcp.close();
  site.close();
});

async function connect(tools: Record<string, string[]> = {}) {
  const { sessionId } = await mcp.service.create("Say something.", { targetUrl: site.url, tools });
  return { sessionId, client: await mcp.connect(await mcp.requestToken(sessionId)) };
}
const PROBE = { script: "return typeof page.applyVariant" };

describe("the holder of an MCP token", () => {
  it("can edit pages as the agent does", async () => {
    const { sessionId, client } = await connect();
    const names = await listNames(client);
    for (const name of ["apply_variant", "check_variant", "set_previews", "refresh_previews"])
      assert.ok(names.includes(name), name);
    const add = [{ op: "setText", selector: "#pay", text: "Pay now" }];
    const applied = await callTool(client, "apply_variant", { baseRevision: 0, add });
    assert.match(readText(applied), /^Stored revision 1 of variant main/);
    const used = await callTool(client, "browser_execute", {
      script: "return await page.applyVariant([{ op: 'setText', selector: '#pay', text: 'Buy' }])",
    });
    assert.match(readText(used), /"revision": 2/);
    assert.equal((await listVariants(mcp.service, sessionId))[0]?.revision, 2);
  });

  for (const list of ["exclude", "externalTurnExclude"]) {
    it(`has neither the tool nor page.applyVariant with ${list}`, async () => {
      const { client } = await connect({ [list]: ["apply_variant"] });
      assert.ok(!(await listNames(client)).includes("apply_variant"));
      assert.match(readText(await callTool(client, "browser_execute", PROBE)), /undefined/);
    });
  }
});
