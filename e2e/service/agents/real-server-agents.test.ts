import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { Mode } from "#inngest/testing/call-app.ts";
import { type InngestStandIn, startInngestStandIn } from "#inngest/testing/start-inngest-stand-in.ts";
import { openServedService, type ServedService } from "../real-server-testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { readAgents, scriptByTask, spawn, submit, wait } from "./agents-testing.ts";

/**
 * A stand-in for an Inngest server calls the service over HTTP to play the turns of sub-agents. The stand-in loses,
 * repeats, delays and reorders its calls and events.
 */

let standIn: InngestStandIn;
let service: ServedService;

type Settings = NonNullable<Parameters<InngestStandIn["set"]>[0]>;

const MISHAPS: Record<string, Settings> = {
  "that calls the app once per step": {},
  "whose every answer is lost": { chooseDeliveryFault: () => ({ kind: "answer-lost" }) },
  "that sends every call twice at the same time": { chooseDeliveryFault: () => ({ kind: "twice" }) },
  "that cannot reach the app at every other call": {
    chooseDeliveryFault: ({ number }) => (number % 2 === 1 ? { kind: "refused" } : undefined),
  },
  "that starts two function runs for each job": { deliver: (events) => [...events, ...events] },
};

for (const mode of ["checkpointing", "replay"] satisfies Mode[])
  describe(`a server with ${mode}`, () => {
    before(async () => {
      standIn = await startInngestStandIn({ mode });
      service = await openServedService(standIn, { SANDBOX: "unconfined" });
    });
    afterEach(() => {
      standIn.set();
      assert.deepEqual(standIn.faults, [], "no request violated the protocol");
    });
    after(async () => {
      await standIn.close();
      await service.close();
    });

    for (const [what, settings] of Object.entries(MISHAPS))
      it(`${what} starts no sub-agent twice, loses no result and wakes the parent once`, async () => {
        standIn.set(settings);
        scriptByTask(service, {
          "lead the tree": [
            { toolCalls: [spawn({ name: "one", objective: "branch" }, { name: "two", objective: "leaf" })] },
            { toolCalls: [wait()] },
            { text: "All is in." },
          ],
          branch: [
            { toolCalls: [spawn({ name: "three", objective: "twig" })] },
            { toolCalls: [wait()] },
            { toolCalls: [submit("branch")] },
          ],
          leaf: [{ toolCalls: [submit("leaf")] }],
          twig: [{ toolCalls: [submit("twig")] }],
        });
        const session = await service.create("lead the tree", { subAgents: true });
        await service.completed(session.statusUrl);
        const agents = await readAgents(service, session.sessionId);
        assert.deepEqual(agents.map(({ name, outcome, result }) => [name, outcome, result?.value]).sort(), [
          ["one", "succeeded", "branch"],
          ["three", "succeeded", "twig"],
          ["two", "succeeded", "leaf"],
        ]);
        const events = await readEvents(service, session.sessionId);
        assert.equal(only(events, "agent.spawned").length, 2);
        assert.equal(only(events, "agent.settled").length, 2);
        assert.equal(only(events, "turn.waiting").length, only(events, "turn.resumed").length);
        assert.ok(only(events, "turn.waiting").length <= 1, "one wait for both");
        assert.deepEqual(
          only(events, "run.completed").map(({ outcome }) => outcome),
          ["succeeded"],
        );
        for (const { sessionId } of agents)
          assert.equal(only(await readEvents(service, sessionId), "run.completed").length, 1);
      });
  });
