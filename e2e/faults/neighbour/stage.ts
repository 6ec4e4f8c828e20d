import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { startScriptedModel } from "#e2e/fixtures/scripted-model/start-scripted-model.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { VICTIM } from "./victim.ts";

// The model of the service. It answers the measured owner's calls itself, and forwards those of the hostile owner to the
// attacker's model, whose address is the argument.

export type StageReady = { model: string; pageUrl: string };

/** The steps of a measured turn: it runs a command, a script on its page, and answers. */
const STEPS: Step[] = [
  { toolCalls: [{ name: "run_shell", arguments: { command: "echo measured > note.txt; cat note.txt" } }] },
  { toolCalls: [{ name: "browser_execute", arguments: { script: "return await page.title();" } }] },
  { text: "The page has a title." },
];

const hostile: unknown = JSON.parse(process.argv[2] ?? "");
const own = await startScriptedModel();
own.respondWith(({ answersSoFar }) => STEPS[Math.min(answersSoFar, STEPS.length - 1)]);

async function route(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  if (incoming.method === "GET" && incoming.url === "/page")
    return void response
      .writeHead(200, { "content-type": "text/html" })
      .end("<!doctype html><title>Measured</title><p>A quiet page.</p>");
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const base = new URL(body.includes(VICTIM) ? own.baseUrl : String(hostile));
  const options = { method: incoming.method, headers: { ...incoming.headers, host: base.host } };
  const forwarded = send(new URL(incoming.url ?? "/", base), options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  forwarded.on("error", () => response.destroy());
  response.on("close", () => forwarded.destroy());
  forwarded.end(body);
}

const server = createServer(
  (request, response) => void route(request, response).catch(() => response.destroy()),
);
await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
// The cast is safe because a server that listens on TCP has an address with a port.
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
process.send?.({ model: `${origin}/v1`, pageUrl: `${origin}/page` } satisfies StageReady);
