import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setPriority } from "node:os";
import { startToolServer } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { startScriptedModel } from "#e2e/fixtures/scripted-model/start-scripted-model.ts";
import { type CreatedSession, userMessage } from "#e2e/fixtures/service.ts";
import { INPUTS } from "./inputs/index.ts";
import { DONE } from "./inputs/parts.ts";

// The attacker: the hostile owner's model, page, tool server and clients, for the input whose name is the argument. It
// sends its addresses, waits for the service's address, and then attacks until it is killed. It has a low priority, so
// that the measurement shows the service and not the attacker's own need of the processor.

export type AttackerReady = { model: string; certificate: string };
export type AttackCommand = { service: string; apiKey: string };
/** What the attacker reports: finished turns of the hostile session, the newest tool result, and its own failures. */
export type AttackReport = { turns?: number; isAttacking?: boolean; toolResult?: string; failure?: string };

setPriority(10);
const name: unknown = JSON.parse(process.argv[2] ?? "");
const input = INPUTS.find((each) => each.name === name);
if (!input) throw new Error(`there is no input named ${name}`);
const report = (message: AttackReport) => void process.send?.(message);

const pages = createServer((request, response) => {
  if (input.page && request.url === "/page") input.page(request, response);
  else response.writeHead(404).end();
});
await new Promise<void>((done) => pages.listen(0, "127.0.0.1", done));
// The cast is safe because a server that listens on TCP has an address with a port.
const pageUrl = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/page`;

const flood = input.toolResult;
const tools = await startToolServer({ tools: flood ? [{ name: "flood", call: () => flood() }] : [] });

const model = await startScriptedModel();
process.send?.({ model: model.baseUrl, certificate: tools.certificate.cert } satisfies AttackerReady);
process.once("message", (command: AttackCommand) => {
  attack(command).catch((error: unknown) => report({ failure: String(error) }));
});

async function attack({ service, apiKey }: AttackCommand): Promise<void> {
  if (!input) return;
  const scene = { service, apiKey, pageUrl };
  const steps = input.steps?.(scene) ?? [DONE];
  model.respondWith(({ answersSoFar, toolResults }) => {
    const toolResult = toolResults.at(-1);
    if (toolResult !== undefined) report({ toolResult: toolResult.slice(0, 300) });
    return steps[Math.min(answersSoFar, steps.length - 1)];
  });
  const post = async (path: string, body: unknown): Promise<CreatedSession> => {
    const response = await fetch(new URL(path, service), {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    // The service's answer to a creation or a follow-up.
    return (await response.json()) as CreatedSession;
  };
  const session = await post("/api/session", {
    messages: [userMessage("HOSTILE")],
    ...(input.page ? { targetUrl: pageUrl } : { capabilities: { browser: false } }),
    ...(flood && { mcpServers: { hostile: { url: tools.url } } }),
  });
  const isEnded = async (path: string) => {
    const response = await fetch(new URL(path, service), { headers: { authorization: `Bearer ${apiKey}` } });
    // The service's answer for the status of a request.
    return ((await response.json()) as { status?: string }).status === "completed";
  };
  const playTurns = async () => {
    let { statusUrl } = session;
    for (let turns = 0; ; turns++) {
      report({ turns });
      while (!(await isEnded(statusUrl).catch(() => false)))
        await new Promise((done) => setTimeout(done, 200));
      ({ statusUrl } = await post(`/api/sessions/${session.sessionId}/agent/messages`, { text: "HOSTILE" }));
    }
  };
  if (input.attack) report({ isAttacking: true });
  await Promise.all([
    input.steps ? playTurns() : undefined,
    input.attack?.({ ...scene, session }, new AbortController().signal),
  ]);
}
