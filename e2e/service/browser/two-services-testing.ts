import assert from "node:assert/strict";
import { WebSocket } from "ws";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { connectClient, type TestClient } from "#lib/api/live/testing.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { TEST_KEY } from "../testing.ts";

export type TwoServices = Awaited<ReturnType<typeof openTwoServices>>;

/**
 * Opens two services that stand for two processes: they share a Postgres server and one browser host.
 *
 * @param turns the steps of each turn, by a text in its message. Afterwards, the model says "Done.".
 */
export async function openTwoServices(turns: ReadonlyMap<string, Step[]>) {
  const postgres = await startTestPostgres();
  const variables = {
    BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath,
    SANDBOX: "unconfined",
    DATABASE_URL: await createDatabase(postgres.url, "processes"),
    DATABASE_DRIVER: "pg",
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
  };
  const services = [await openHttpTestService(variables), await openHttpTestService(variables)] as const;
  for (const { model } of services)
    model.respondWith(({ userText, answersSoFar }) => {
      const [, steps] = [...turns].find(([marker]) => userText.includes(marker)) ?? [];
      return steps?.[answersSoFar] ?? { text: "Done." };
    });
  return {
    services,
    otherThan: (owner: HttpTestService) => services.find((each) => each !== owner) ?? assert.fail(),
    async close() {
      for (const service of services) await service.close();
      await postgres.stop();
    },
  };
}

/** Connects a person to the live view of a session. @param view what they also follow, such as the stage. */
export async function watchLive(
  { baseUrl }: HttpTestService,
  sessionId: string,
  view: { stage?: true } = {},
): Promise<TestClient> {
  const url = `${baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`;
  const person = connectClient(new WebSocket(url, { headers: { "x-service-api-key": TEST_KEY } }));
  await person.ready();
  person.send({ type: "view.subscribe", ...view });
  return person;
}
