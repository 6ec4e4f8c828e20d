import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import type { Database } from "#db/client.ts";
import { type Job, requestRun } from "#lib/session/store/jobs.ts";
import { createServerlessSender } from "./create-serverless-sender.ts";

const REQUEST_CONTEXT = Symbol.for("@vercel/request-context");
const globals = globalThis as { [REQUEST_CONTEXT]?: unknown };
afterEach(() => {
  delete globals[REQUEST_CONTEXT];
});

const job = requestRun({ id: "run_1", sessionId: "ses_1", generation: 1 });

/**
 * Creates a sender. Records the jobs that it sends, and the promises for which it asks the platform to wait. Its
 * database does nothing.
 */
function openSender(send?: () => Promise<void>) {
  const waited: Promise<unknown>[] = [];
  const sent: Job[] = [];
  globals[REQUEST_CONTEXT] = {
    get: () => ({ waitUntil: (work: Promise<unknown>) => void waited.push(work) }),
  };
  const sender = createServerlessSender({
    db: { update: () => ({ set: () => ({ where: async () => {} }) }) } as unknown as Database,
    send: send ?? (async (each) => void sent.push(each)),
    logger: { warn() {} },
  });
  return { sender, waited, sent };
}

test("the platform waits until jobs were sent, also those of new sessions", async () => {
  for (const send of ["sendSoon", "begin"] as const) {
    const { sender, waited, sent } = openSender();
    if (send === "sendSoon") sender.sendSoon([job]);
    else sender.begin(job, sender.plan(job));
    assert.equal(waited.length, 1, send);
    await Promise.all(waited);
    assert.deepEqual(sent, [job], send);
  }
});

test("the platform waits no longer for a job that could not be sent", async () => {
  const { sender, waited } = openSender(() => Promise.reject(new Error("the server is down")));
  const timers = mock.timers;
  timers.enable({ apis: ["setTimeout"] });
  sender.sendSoon([job]);
  // The timer that ends the wait never fires here.
  await Promise.all(waited);
  timers.reset();
});
