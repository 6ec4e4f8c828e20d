import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "@playwright/test";
import { buildClient } from "#lib/setup/build-client.mjs";
import { API_KEY } from "../fixtures/service.ts";
import { test } from "./journey.ts";

/**
 * A program that runs in a page. It uses the built client to read a typed result and all events. The client sends the
 * API key in the first frame of the WebSocket.
 */
const PROGRAM = `async ({ apiKey }) => {
  const { createClient } = await import("/client/index.js");
  const client = createClient({ baseUrl: location.origin, apiKey });
  const session = await client.createSession({
    messages: [{ role: "user", parts: [{ type: "text", text: "the title, please" }] }],
    outputSchema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
  });
  const frames = [];
  const live = client.live(session.sessionId, { after: 0, onFrame: ({ type }) => frames.push(type) });
  const kinds = [];
  for await (const event of client.events(session)) kinds.push(event.kind);
  const { title } = await client.waitForDeliverable(session);
  while (!frames.includes("run.completed")) await new Promise((done) => setTimeout(done, 20));
  live.close();
  const refused = await client.getAgentStatus("ses_nobody").catch(({ status, code }) => ({ status, code }));
  const unauthorized = createClient({ baseUrl: location.origin, apiKey: "wrong" });
  const liveStatus = await unauthorized.live(session.sessionId, { onFrame() {} }).closed.catch(({ status }) => status);
  return { title, last: kinds.at(-1), first: frames[0], refused, liveStatus };
}`;

test("the built client does in a browser what it does in Node", async ({ page, stage, cleanConsole }) => {
  const folder = await mkdtemp(join(tmpdir(), "client-browser-"));
  await buildClient(process.execPath, folder);
  const { baseUrl } = stage.service;
  await page.route(`${baseUrl}/client/**`, async (route) => {
    const body = await readFile(
      join(folder, new URL(route.request().url()).pathname.slice("/client".length)),
    );
    await route.fulfill({ contentType: "text/javascript", body });
  });
  // The browser logs the 404 and the refused connection that the program provokes.
  cleanConsole.allow(/404|WebSocket/);
  stage.model.respondWith(({ kind }) =>
    kind === "structured" ? { json: { title: "Harbour" } } : { text: "Looked." },
  );
  // The program runs in a page of the service, because browsers block requests to this machine from other origins.
  await page.goto(`${baseUrl}/demo`);
  expect(await page.evaluate(`(${PROGRAM})(${JSON.stringify({ apiKey: API_KEY })})`)).toEqual({
    title: "Harbour",
    last: "run.completed",
    first: "ready",
    refused: { status: 404, code: "not_found" },
    liveStatus: 401,
  });
  await rm(folder, { recursive: true, force: true });
});
