import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { startService, waitUntil } from "../fixtures/service.ts";
import { type HoldingServer, startHoldingServer } from "./holding-server.ts";
import { haveEnded, type LogEvent, readLog } from "./read-log.ts";

let model: ScriptedModel;
let receiver: HoldingServer;

test.beforeAll(async () => {
  receiver = await startHoldingServer();
  const question = { name: "elicit_user_input", arguments: { question: "Which colour?" } };
  const write = { name: "write_file", arguments: { path: "a.txt", content: "a" } };
  model = await startScriptedModel({
    script: {
      rules: [
        { when: "[question]", steps: [{ toolCalls: [question] }, { text: "Thank you." }] },
        { when: "[approval]", steps: [{ toolCalls: [write] }, { text: "Written." }] },
      ],
    },
  });
});
test.afterAll(async () => {
  await model.close();
  await receiver.close();
});

type Item = { id: string; state: string; answerUrl?: string };
type Callback = { event: string; delivery: string; item: Item };

const callbacksAt = (path: string): Callback[] =>
  receiver.at(path).map(({ headers, body }) => ({
    ...(JSON.parse(body.toString()) as Omit<Callback, "delivery">),
    delivery: String(headers["x-service-delivery"]),
  }));

/** The events about items in the log of a session. */
const reports = (events: LogEvent[]) =>
  events
    .filter(({ kind }) => kind === "run.waiting" || kind === "run.resumed")
    .map(({ kind, item }) => `${kind} ${(item as Item).id}`);

for (const kind of ["question", "approval"] as const) {
  const answer = { question: "do=answer&text=red", approval: "do=approve" }[kind];

  for (const point of ["park-committed", "wake-committed"])
    test(`${kind}: after a kill at ${point}, each callback has one delivery, and the turn continues once`, async () => {
      const path = `/${kind}/${point}`;
      const settings = {
        OPENAI_BASE_URL: model.baseUrl,
        SANDBOX: "unconfined",
        CALLBACK_RETRY_BASE_MS: "200",
      };
      const killed = await startService({ ...settings, FAULT: `${point}:1:kill9`, FAULTS_ALLOWED: "1" });
      const session = await killed.create(`[${kind}] ${point}`, {
        capabilities: { browser: false },
        interaction: { mode: "ask" },
        tools: { approve: ["write_file"] },
        callback: { url: `${receiver.url}${path}`, events: ["run.waiting", "run.resumed"] },
      });
      const sendAnswer = async () => {
        await waitUntil(() => callbacksAt(path).length > 0, "the callback about the wait has arrived");
        const url = callbacksAt(path)[0]?.item.answerUrl ?? "";
        const headers = { "content-type": "application/x-www-form-urlencoded" };
        return fetch(url, { method: "POST", headers, body: answer });
      };
      // The process ends before it answers this request.
      if (point === "wake-committed") await sendAnswer().catch(() => {});
      await expect
        .poll(() =>
          killed.call("GET", "/api/health").then(
            () => "up",
            () => "down",
          ),
        )
        .toBe("down");
      const service = await startService(settings, { dataDir: killed.dataDir, port: killed.port });
      if (point === "park-committed") expect((await sendAnswer()).status).toBe(200);
      const events = await readLog(service, session.sessionId, haveEnded(1));
      await waitUntil(async () => {
        const { data } = await service.read<{ data: { state: string }[] }>(
          `/api/sessions/${session.sessionId}/deliveries`,
        );
        return data.length === 2 && data.every(({ state }) => state === "delivered");
      }, "both callbacks are delivered");
      const { data } = await service.read<{ data: Item[] }>(`/api/sessions/${session.sessionId}/inbox`);
      const [item] = data;
      expect(data).toHaveLength(1);
      expect(item?.state).toBe(kind === "question" ? "answered" : "approved");
      expect(reports(events)).toEqual([`run.waiting ${item?.id}`, `run.resumed ${item?.id}`]);
      const deliveries = new Map(callbacksAt(path).map(({ delivery, event }) => [delivery, event]));
      expect([...deliveries.values()].toSorted()).toEqual(["run.resumed", "run.waiting"]);
      const count = (name: string) => events.filter((event) => event.kind === name).length;
      expect([count("turn.waiting"), count("turn.resumed"), count("run.completed")]).toEqual([1, 1, 1]);
      expect(events.filter((event) => event.kind === "tool.result")).toMatchObject([{ state: "succeeded" }]);
      const again = await fetch(callbacksAt(path)[0]?.item.answerUrl ?? "");
      expect(again.status).toBe(410);
      await service.close();
    });
}
