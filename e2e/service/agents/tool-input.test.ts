import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { StepToolCall } from "#e2e/fixtures/scripted-model/types.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { readAgents, readResult, spawn, submit, wait } from "./agents-testing.ts";
import { countEverything, delegating, listTree } from "./tree-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

/** Returns a pattern for an error of input validation, which consists of the field's path and the problem. */
const inField = (path: string, message: string) =>
  new RegExp(`^Error: ${path.replace(/[[\]]/g, "\\$&")}: ${message}`);

const objective = "never do this";
const times = (count: number) => Array.from({ length: count }, () => ({ objective }));
/** Creates a JSON Schema whose text has this many bytes. */
const schemaOf = (bytes: number) => {
  const empty = JSON.stringify({ type: "object", description: "" }).length;
  return { type: "object", description: "x".repeat(bytes - empty) };
};

/** An invalid call of `spawn_agents`, and the error that it must return. */
type Case = { name: string; call: StepToolCall; says: RegExp };

const cases: Case[] = [
  { name: "11 agents", call: spawn(...times(11)), says: inField("agents", "Too big.*<=10 items") },
  { name: "no agents", call: spawn(), says: inField("agents", "Too small.*>=1 items") },
  {
    name: "a name with capitals",
    call: spawn({ name: "Reader", objective }),
    says: inField("agents[0].name", "must be 1 to 32 of a-z, 0-9 and -"),
  },
  {
    name: "a name of 33 characters",
    call: spawn({ name: "a".repeat(33), objective }),
    says: inField("agents[0].name", "must be 1 to 32 of a-z, 0-9 and -"),
  },
  {
    name: "an empty objective",
    call: spawn({ objective: "  " }),
    says: inField("agents[0].objective", "Too small"),
  },
  {
    name: "a name twice in one call",
    call: spawn({ name: "twin", objective }, { name: "twin", objective }),
    says: /^Error: spawn_agents: agents\[1\]\.name: "twin" is taken\. Names are unique in the whole tree\.$/,
  },
  {
    name: "the name of an earlier sub-agent",
    call: spawn({ objective }, { name: "taken", objective }),
    says: /^Error: spawn_agents: agents\[1\]\.name: "taken" is taken\. Names are unique in the whole tree\.$/,
  },
  {
    name: "its own browser without the browser capability",
    call: spawn({ objective }, { objective, browser: "own" }),
    says: /^Error: spawn_agents: agents\[1\]\.browser: "own" is not available, because this session has no browser tools\. Use "none"\.$/,
  },
  {
    name: "a shared browser without the browser capability",
    call: spawn({ objective, browser: "shared" }),
    says: /^Error: spawn_agents: agents\[0\]\.browser: "shared" is not available/,
  },
  {
    name: "a browser of another kind",
    call: spawn({ objective, browser: "mine" }),
    says: inField("agents[0].browser", "Invalid option.*own.*shared.*none"),
  },
  {
    name: "a url that is not http",
    call: spawn({ objective, url: "file:///etc/passwd" }),
    says: inField("agents[0].url", "must be an http or https URL"),
  },
  {
    name: "a result schema whose root is no object",
    call: spawn({ objective }, { objective, resultSchema: { type: "array" } }),
    says: /^Error: spawn_agents: agents\[1\]\.resultSchema: .*object/,
  },
  {
    name: "a result schema that does not compile",
    call: spawn({ objective, resultSchema: { type: "object", properties: { a: { $ref: "#/$defs/none" } } } }),
    says: /^Error: spawn_agents: agents\[0\]\.resultSchema: .*\$ref points to nothing/,
  },
  {
    name: "a result schema over 64 KiB",
    call: spawn({ objective, resultSchema: schemaOf(65_537) }),
    says: /^Error: spawn_agents: agents\[0\]\.resultSchema: .*(64 KiB|65.?536)/,
  },
];

describe("an invalid input of spawn_agents", () => {
  const results = new Map<string, string>();
  const changed: string[] = [];
  let rootId = "";

  before(async () => {
    const counts: string[] = [];
    service.model.respondWith(async ({ userText, answersSoFar }) => {
      if (!userText.includes("lead invalid")) return { toolCalls: [submit("ok")] };
      if (answersSoFar === 0) return { toolCalls: [spawn({ name: "taken", objective: "be the first" })] };
      if (answersSoFar === 1) return { toolCalls: [wait()] };
      counts.push(JSON.stringify(await countEverything(service)));
      const next = cases[answersSoFar - 2];
      return next ? { toolCalls: [next.call] } : { text: "Done." };
    });
    const session = await service.create("lead invalid", delegating);
    rootId = session.sessionId;
    await service.completed(session.statusUrl);
    for (const [index, { name }] of cases.entries()) {
      results.set(name, readResult(service, "lead invalid", index + 2));
      if (counts[index] !== counts[index + 1]) changed.push(name);
    }
  });

  for (const { name, says } of cases)
    it(`is refused with an error that names the field, and changes nothing: ${name}`, () => {
      assert.match(results.get(name) ?? "", says);
      assert.ok(!changed.includes(name), "the refused call wrote something");
    });

  it("affects no earlier sub-agent, and the turn continues", async () => {
    const [agent, ...others] = await readAgents(service, rootId);
    assert.deepEqual([agent?.name, agent?.outcome, others], ["taken", "succeeded", []]);
    const [end] = only(await readEvents(service, rootId), "run.completed");
    assert.equal(end?.outcome, "succeeded");
  });

  it("is explained to people and to the model without repeating the input, however long it is", async () => {
    const long = `${objective} ${"again and again ".repeat(500)}`;
    service.model.respondWith(({ answersSoFar }) =>
      answersSoFar === 0 ? { toolCalls: [spawn({ name: "Capital", objective: long })] } : { text: "Done." },
    );
    const session = await service.create("lead long", delegating);
    await service.completed(session.statusUrl);
    const [result] = only(await readEvents(service, session.sessionId), "tool.result");
    for (const text of [result?.preview ?? "", readResult(service, "lead long", 0)]) {
      assert.match(text, /must be 1 to 32 of a-z, 0-9 and -/);
      assert.ok(text.length < long.length, `${text.length} characters`);
    }
  });

  it("begins above the limits: 10 agents, 32 characters and 64 KiB are accepted", async () => {
    const wide = await openTestService({ DELEGATION_MAX_LIVE_CHILDREN: "10" });
    try {
      const name = `${"a".repeat(30)}-1`;
      wide.model.respondWith(({ userText, answersSoFar }) => {
        if (!userText.includes("lead limits")) return { toolCalls: [submit({})] };
        const first = { name, objective, resultSchema: schemaOf(65_536) };
        return (
          [{ toolCalls: [spawn(first, ...times(9))] }, { toolCalls: [wait()] }][answersSoFar] ?? {
            text: "Done.",
          }
        );
      });
      const session = await wide.create("lead limits", delegating);
      await wide.completed(session.statusUrl);
      const agents = await readAgents(wide, session.sessionId);
      assert.equal(agents.length, 10);
      assert.equal(agents[0]?.name, name);
    } finally {
      await wide.close();
    }
  });
});

describe("report_progress", () => {
  it("refuses a text of more than 500 characters, and sends no event for it", async () => {
    const report = (text: string) => ({ name: "report_progress", arguments: { text } });
    service.model.respondWith(({ userText, answersSoFar }) => {
      if (userText.includes("lead progress"))
        return (
          [{ toolCalls: [spawn({ objective: "talk a lot" })] }, { toolCalls: [wait()] }][answersSoFar] ?? {
            text: "Done.",
          }
        );
      return (
        [{ toolCalls: [report("x".repeat(501))] }, { toolCalls: [report("y".repeat(500))] }][
          answersSoFar
        ] ?? {
          toolCalls: [submit("told")],
        }
      );
    });
    const session = await service.create("lead progress", delegating);
    await service.completed(session.statusUrl);
    assert.match(readResult(service, "talk a lot", 0), inField("text", "Too big.*<=500 characters"));
    assert.equal(readResult(service, "talk a lot", 1), "Reported.");
    const events = only(await readEvents(service, session.sessionId), "agent.progress");
    assert.deepEqual(
      events.map(({ text }) => text),
      ["y".repeat(500)],
    );
    const [agent] = await listTree(service, session.sessionId);
    assert.equal(agent?.status, "succeeded");
  });
});
