import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, it } from "node:test";
import { findTestChromium } from "#lib/browser/testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { readAgents, readResult, scriptByTask, spawn, submit, wait } from "./agents-testing.ts";

const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
/**
 * With `SESSIONS_AT_ONCE=40`, the test runs at full size for about a minute: 40 sessions share eight browser places.
 */
const isFull = process.env.SESSIONS_AT_ONCE === "40";
const [PLACES, PARENTS] = isFull ? [8, 10] : [2, 1];
const CHILDREN = ["a", "b", "c"];

let service: TestService;
const visits = new Map<string, number>();
const pages = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://page");
  visits.set(pathname, (visits.get(pathname) ?? 0) + 1);
  response.setHeader("content-type", "text/html");
  response.end(`<title>${pathname}</title>`);
});
let site = "";

before(async () => {
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  site = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  service = await openTestService({
    BROWSER_EXECUTABLE_PATH,
    SANDBOX: "unconfined",
    BROWSER_MAX_LIVE: String(PLACES),
  });
});
after(async () => {
  await service.close();
  pages.close();
});

const readTitle = { name: "browser_execute", arguments: { script: "return await page.title()" } };

it(`${PARENTS * 4} sessions and sub-agents on ${PLACES} browser places all reach their pages, and none falls back in the queue`, async (t) => {
  const parents = Array.from({ length: PARENTS }, (_, index) => `lead-${index}.`);
  const children = parents.flatMap((parent) => CHILDREN.map((name) => `${name}-of-${parent}`));
  const ofParent = (parent: string) =>
    CHILDREN.map((name) => {
      const objective = `${name}-of-${parent}`;
      return { name, objective, browser: "own", url: `${site}/${objective}` };
    });
  const parentTurn = (parent: string) => [
    { toolCalls: [readTitle] },
    { toolCalls: [spawn(...ofParent(parent))] },
    { toolCalls: [wait()] },
    { toolCalls: [readTitle] },
  ];
  // The tasks of sub-agents come last, because `scriptByTask` uses the last match and a sub-agent's user message also
  // contains the task of its parent.
  scriptByTask(service, {
    ...Object.fromEntries(parents.map((parent) => [parent, parentTurn(parent)])),
    ...Object.fromEntries(
      children.map((task) => [task, [{ toolCalls: [readTitle] }, { toolCalls: [submit(task)] }]]),
    ),
  });
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, service.container.services.browser.describe().live);
  }, 20);
  t.after(() => clearInterval(watch));
  const sessions = await Promise.all(
    parents.map((parent) => service.create(parent, { subAgents: true, targetUrl: `${site}/${parent}` })),
  );
  for (const { statusUrl } of sessions) await service.completed(statusUrl, 180_000);
  assert.ok(most <= PLACES, `${most} browsers at once`);
  const ids = sessions.map(({ sessionId }) => sessionId);
  for (const id of ids) {
    const agents = await readAgents(service, id);
    assert.deepEqual(
      agents.map(({ outcome, isSubmitted }) => [outcome, isSubmitted]),
      CHILDREN.map(() => ["succeeded", true]),
    );
    for (const sessionId of [id, ...agents.map((agent) => agent.sessionId)]) {
      const events = await readEvents(service, sessionId);
      assert.deepEqual(
        only(events, "tool.result")
          .map(({ state }) => state)
          .filter((state) => state !== "succeeded"),
        [],
      );
      checkPositions(only(events, "browser.waiting").map(({ position }) => position));
    }
  }
  for (const parent of parents)
    assert.ok(
      readResult(service, parent, 3).includes(`Result: /${parent}`),
      "the parent's page is open again",
    );
  for (const task of [...parents, ...children])
    assert.ok((visits.get(`/${task}`) ?? 0) > 0, `${task} was never opened`);
});

/**
 * Checks that a session never falls back in the queue during a wait. A wait ends at position 1, so the next position
 * belongs to a new wait and may be any number.
 */
function checkPositions(positions: number[]): void {
  for (const [index, position] of positions.entries()) {
    const before = positions[index - 1];
    if (before !== undefined && before > 1)
      assert.ok(position <= before, `fell back from ${before} to ${position}`);
  }
}
