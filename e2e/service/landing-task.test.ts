import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { readOfferedTools } from "#e2e/fixtures/offered-tools.ts";
import { answerElicitation } from "#lib/session/elicitation/answer-elicitation.ts";
import { openTestService, signIn, type TestService, userMessage, waitUntil } from "./testing.ts";
import { only, readEvents } from "./turn/turn-testing.ts";

let service: TestService;

before(async () => {
  service = await openTestService({ SANDBOX: "none" });
});
after(() => service.close());

type Created = { sessionId: string };

const question = {
  name: "elicit_user_input",
  arguments: { question: "Which page?", options: ["front page", "checkout"] },
};

/** Scripts the model: it asks the person one question, and answers after that. */
function askOnce(): void {
  service.model.requests.length = 0;
  service.model.respondWith(({ answersSoFar }) =>
    answersSoFar === 0 ? { toolCalls: [question] } : { text: "Done." },
  );
}

/** Posts a creation request in the way the landing page does, with the cookie of a signed-in operator. */
async function startFromLandingPage(more: Record<string, unknown>): Promise<Created> {
  const cookie = await signIn(service);
  const body = { messages: [userMessage("look at the shop")], ...more };
  const headers = { cookie, origin: service.env.baseUrl, authorization: "" };
  const answer = await service.call("POST", "/actions/sessions", body, headers);
  assert.equal(answer.status, 201, await answer.clone().text());
  return (await answer.json()) as Created;
}

/**
 * Waits for the end of the turn. Reads the log directly, because the test's key cannot read the operator's session.
 */
const ended = ({ sessionId }: Created) =>
  waitUntil(
    async () => only(await readEvents(service, sessionId), "run.completed").length > 0,
    `the turn of ${sessionId} has ended`,
  );

const offered = () => readOfferedTools(service.model.requests[0]);

const NO_PERSON = /No person is waiting on the session page/;

describe("a task started on the landing page", () => {
  it("is a person's turn: it has the tools for persons, and its questions are asked", async () => {
    askOnce();
    const session = await startFromLandingPage({ tools: { externalTurnExclude: ["list_transcript"] } });
    const readQuestions = async () =>
      only(await readEvents(service, session.sessionId), "elicitation.requested");
    await waitUntil(async () => (await readQuestions()).length > 0, "the person is asked");
    const [request] = await readQuestions();
    const { sessionId } = session;
    const question = { sessionId, elicitationId: request?.elicitationId ?? "" };
    await answerElicitation(service.container.services, question, "checkout", "person");
    await ended(session);

    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "run.started")[0]?.origin, "person");
    assert.ok(offered().includes("list_transcript"));
    assert.match(service.model.requests.at(-1)?.toolResults[0] ?? "", /checkout/);
    assert.doesNotMatch(JSON.stringify(service.model.requests[0]?.body), NO_PERSON);
  });

  it("always has the source `web`, also if the body names another", async () => {
    service.model.respondWith(() => ({ text: "Done." }));
    for (const more of [{}, { source: "api" }, { source: "cli" }]) {
      const session = await startFromLandingPage(more);
      await ended(session);
      const events = await readEvents(service, session.sessionId);
      assert.deepEqual([...new Set(events.map(({ source }) => source))], ["web"]);
      assert.equal(only(events, "run.started")[0]?.origin, "person");
    }
  });
});

describe("a caller with an API key", () => {
  it("is not a person, also with `source: web`: externalTurnExclude applies and no question is asked", async () => {
    askOnce();
    const session = await service.create("look at the shop", {
      source: "web",
      tools: { externalTurnExclude: ["list_transcript"] },
    });
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "run.started")[0]?.origin, "external");
    assert.equal(only(events, "elicitation.requested").length, 0);
    assert.ok(!offered().includes("list_transcript"));
    assert.match(JSON.stringify(service.model.requests[0]?.body), NO_PERSON);
  });
});
