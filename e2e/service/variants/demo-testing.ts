import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { findTestChromium } from "#lib/browser/testing.ts";
import { openHttpTestService } from "../http-testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";

const SHOP = join(import.meta.dirname, "../../../public/demo");
const TYPES: Record<string, string> = {
  html: "text/html",
  css: "text/css",
  js: "text/javascript",
  svg: "image/svg+xml",
};

/** The longest time that a turn with a check of a variant may take. */
export const TURN_MS_MAX = 180_000;

/** Options of a session that does not check its variant. A check takes long, so only tests about it wait for it. */
export const UNCHECKED = { tools: { exclude: ["check_variant"] } };

/** Serves the files of the demo shop at the paths at which the service serves them. */
async function serveShop() {
  const site = createServer(async (request, response) => {
    const name = /^\/demo\/([\w-]+\.(\w+))$/.exec(request.url ?? "");
    const file = await readFile(join(SHOP, name?.[1] ?? "none")).catch(() => undefined);
    response.statusCode = file === undefined ? 404 : 200;
    response.setHeader("content-type", `${TYPES[name?.[2] ?? ""] ?? "text/plain"}; charset=utf-8`);
    response.end(file);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  return site;
}

/** Opens a service with the built-in demo model and a real Chromium, and a server for the demo shop. */
export async function openDemoService() {
  const site = await serveShop();
  const targetUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}/demo/index.html`;
  const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
  // Without OPENAI_API_KEY and OPENAI_BASE_URL the service uses the built-in demo model.
  const service = await openHttpTestService({
    OPENAI_BASE_URL: "",
    AGENT_MODEL: "",
    BROWSER_EXECUTABLE_PATH,
    SANDBOX: "unconfined",
  });

  /**
   * Waits for the end of a request.
   *
   * @returns the request's `run.completed` event, last text, names of called tools, and all events.
   */
  async function ended(sessionId: string, requestId: string) {
    await service.completed(`/api/sessions/${sessionId}/requests/${requestId}`, TURN_MS_MAX);
    const events = (await readEvents(service, sessionId)).filter((event) => event.requestId === requestId);
    const completed = only(events, "run.completed").at(-1);
    const parts = only(events, "message.completed").flatMap(({ message }) => message.parts);
    const last = parts.findLast((part) => part.type === "text");
    assert.ok(completed && last);
    const tools = only(events, "tool.call").map(({ toolName }) => toolName);
    return { completed, answer: last.text, tools, events };
  }

  return {
    service,
    targetUrl,
    ended,
    /** Starts a session on the shop and waits for its first turn. */
    async start(task: string, more: Record<string, unknown> = {}) {
      const session = await service.create(task, { targetUrl, ...more });
      return { ...session, ...(await ended(session.sessionId, session.requestId)) };
    },
    /** Posts a message and waits for the end of its turn. */
    async say(sessionId: string, text: string) {
      const posted = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, { text });
      const { requestId } = (await posted.json()) as { requestId: string };
      return ended(sessionId, requestId);
    },
    async close() {
      await service.close();
      site.close();
    },
  };
}

export type DemoService = Awaited<ReturnType<typeof openDemoService>>;
