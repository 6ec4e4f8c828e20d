import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { connectClient } from "#lib/api/live/testing.ts";
import { findTestChromium, startTestSite } from "#lib/browser/testing.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { TEST_KEY, waitUntil } from "../testing.ts";

let service: HttpTestService;
let site: Awaited<ReturnType<typeof startTestSite>>;
/** What the page got by pastes, as it reports it. */
const pasted: string[] = [];
before(async () => {
  site = await startTestSite((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://site");
    if (pathname === "/pasted") pasted.push(searchParams.get("text") ?? "");
    response.writeHead(200, { "content-type": "text/html" });
    response.end(PAGE);
  });
  service = await openHttpTestService({ BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath });
});
after(async () => {
  await service.close();
  await site.close();
});

const PAGE = `<title>Page</title><script>
  document.addEventListener("paste", async ({ clipboardData }) => {
    const text = clipboardData.getData("text/plain").length;
    const [file] = clipboardData.files;
    const sum = file && new Uint8Array(await file.arrayBuffer()).reduce((all, byte) => all + byte, 0);
    fetch("/pasted?text=" + encodeURIComponent([text, file?.name, file?.type, file?.size, sum].join()));
  });
</script>`;

test("large text and files are pasted over HTTP by the connection with control, up to a limit", async () => {
  const { sessionId, shareUrl, statusUrl } = await service.create("work");
  await service.completed(statusUrl);
  const cookie = `share=${new URL(shareUrl, service.baseUrl).searchParams.get("key")}`;
  const headers = { authorization: "", cookie, origin: service.env.baseUrl };
  const paste = async (connectionId: string, items: object[]) => {
    const response = await service.call(
      "POST",
      `/s/${sessionId}/actions/paste`,
      { connectionId, items },
      headers,
    );
    return { status: response.status, ...((await response.json()) as { error?: string }) };
  };
  const url = `${service.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`;
  const client = connectClient(new WebSocket(url, { headers: { "x-service-api-key": TEST_KEY } }));
  await client.ready();
  const id =
    client.frames.flatMap((frame) => (frame.type === "ready" ? [frame.data.connectionId] : []))[0] ?? "";
  const text = { type: "text/plain", text: "x".repeat(200_000) };
  assert.match((await paste(id, [text])).error ?? "", /does not have control/);
  client.send({ type: "control.take" });
  await client.settle();
  assert.match((await paste(id, [text])).error ?? "", /does not run/);

  await service.call("POST", `/api/sessions/${sessionId}/browser`, { url: site.origin });
  await waitUntil(async () => {
    const status = await service.read<{ currentUrl: string | null }>(`/api/sessions/${sessionId}/browser`);
    return status.currentUrl?.startsWith(site.origin) === true;
  }, "the page is open");
  const bytes = Buffer.alloc(3_000_000, 7);
  const file = { type: "image/png", name: "photo.png", base64: bytes.toString("base64") };
  assert.deepEqual(await paste(id, [text, file]), { status: 200, success: true });
  await waitUntil(() => pasted.length === 1, "the page got the paste");
  assert.deepEqual(pasted, ["200000,photo.png,image/png,3000000,21000000"]);

  const half = { ...file, base64: Buffer.alloc(5_300_000).toString("base64") };
  const refused = await paste(id, [half, half]);
  assert.deepEqual([refused.status, refused.error], [400, "items: the files must not exceed 10 MiB"]);
  assert.equal((await paste("con_other", [text])).status, 409);
  assert.equal((await paste(id, [{ ...file, base64: "no base64" }])).status, 400);
  assert.equal(pasted.length, 1);
  client.socket.close();
  await client.ended();
});
