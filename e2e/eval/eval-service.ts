import type { Database } from "#db/client.ts";
import { openTestPostgres } from "#db/testing.ts";
import type { ScriptedModel } from "#e2e/fixtures/scripted-model/types.ts";
import { type CreatedSession, userMessage } from "#e2e/fixtures/service.ts";
import { startFunctions } from "#e2e/fixtures/start-functions.ts";
import { openTestService } from "#e2e/service/testing.ts";
import { readEvents } from "#e2e/service/turn/turn-testing.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import type { DomainEvent } from "#lib/events/event.ts";
import { createEventLog } from "#lib/events/event-log.ts";

/** A service on which tasks are played. */
export type EvalService = {
  db: Database;
  model: Pick<ScriptedModel, "respondWith">;
  /** Creates a session whose first message is `text`. */
  create: (
    text: string,
    more: Record<string, unknown>,
  ) => Promise<Pick<CreatedSession, "sessionId" | "statusUrl">>;
  read: <Body>(path: string) => Promise<Body>;
  readEvents: (sessionId: string) => Promise<DomainEvent[]>;
  endBrowser: (sessionId: string) => Promise<void>;
  close: () => Promise<void>;
};

/** Opens a service in this process. */
export async function openEvalService(variables: Record<string, string>): Promise<EvalService> {
  const service = await openTestService({
    BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath,
    ...variables,
  });
  const { db, browser } = service.container.services;
  return {
    ...service,
    db,
    readEvents: (sessionId) => readEvents(service, sessionId),
    endBrowser: (sessionId) => browser.closeSession(sessionId),
  };
}

/** Starts two instances of the service as on Vercel. Requests alternate between them. */
export async function openFunctions(variables: Record<string, string>): Promise<EvalService> {
  const functions = await startFunctions({
    PUBLIC_PAGES_ORIGIN: "http://pages.example",
    RATE_LIMIT_CREATE: "0",
    RATE_LIMIT_POLL: "0",
    ...variables,
  });
  const { first, second, model, postgres, inngest } = functions;
  const database = await openTestPostgres({ driver: "pg", url: postgres.url });
  const log = createEventLog(database.db, createMemoryBus());
  let requests = 0;
  async function call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    requests += 1;
    const answer = await functions.call(requests % 2 === 0 ? first : second, method, path, body);
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return (answer.status === 204 ? undefined : await answer.json()) as Body;
  }
  return {
    db: database.db,
    model,
    create: (text, more) => call("POST", "/api/session", { messages: [userMessage(text)], ...more }),
    read: (path) => call("GET", path),
    readEvents: (sessionId) => readEvents({ container: { services: { log } } }, sessionId),
    // Ends the machine of the session, in which its browser runs.
    endBrowser: (sessionId) => call("DELETE", `/api/sessions/${sessionId}`),
    async close() {
      const { faults } = inngest;
      await database.close();
      await functions.close();
      if (faults.length > 0) throw new Error(`calls of functions failed:\n${faults.join("\n")}`);
    },
  };
}
