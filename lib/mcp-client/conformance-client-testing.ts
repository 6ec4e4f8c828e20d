import { z } from "zod";
import { readDefaults } from "#lib/events/form-answer.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createGuardedWebFetch } from "#lib/net/fetch/guarded-web-fetch.ts";
import { createMcpClient } from "./create-mcp-client.ts";

// The client program that the official conformance suite tests. Its last argument is the URL of the suite's server. The
// suite's server uses http on loopback. This program allows that, unlike the service. Everything else is as in the
// service.

/** What the suite gives to a scenario: the calls to make, or the credentials of a client. */
const contextSchema = z.looseObject({
  toolCalls: z.array(z.looseObject({ name: z.string(), arguments: z.looseObject({}) })).optional(),
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
});

const url = process.argv.at(-1) ?? "";
const context = contextSchema.parse(JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}"));
const { client_id: clientId, client_secret: clientSecret } = context;
const rule = createAddressRule({ allow: ["localhost", "127.0.0.1", "::1"] });
const fetch = createGuardedWebFetch(rule, { protocols: ["http:"] });
const client = createMcpClient({
  fetch,
  checkOutput: async () => ({ valid: true }),
  readSecrets: async () => ({
    headers: {},
    url: undefined,
    ...(clientId && clientSecret && { auth: { type: "client_credentials", clientId, clientSecret } }),
  }),
  // Simulates a person who accepts every default.
  elicitations: {
    askAndWait: async (_, { form }) => ({ state: "answered", answer: form ? readDefaults(form) : "yes" }),
    ask: async (_, { form }) => ({ state: "answered", answer: form ? readDefaults(form) : "yes" }),
  },
  rounds: { read: async () => undefined, store: async () => {}, remove: async () => {} },
});
const turn = {
  sessionId: "ses_suite",
  runId: "run_suite",
  epoch: 1,
  mayAskPeople: true,
  offerKey: "",
  revisions: {},
  servers: { suite: { url, type: "http" as const } },
};
const { signal } = new AbortController();

const { tools, skipped } = await client.list(turn, client.listServerIds(turn), signal);
// Single tools may be left out; the suite checks that they are not called.
if (skipped.some((each) => each.tools === undefined)) throw new Error(JSON.stringify(skipped));
const inputOf = (tool: string) => (tool === "add_numbers" ? { a: 5, b: 3 } : {});
const calls =
  context.toolCalls?.map(({ name, arguments: input }) => ({ tool: name, input })) ??
  tools.map(({ tool }) => ({ tool, input: inputOf(tool) }));
for (const { tool, input } of calls) {
  const remote = tools.find((each) => each.tool === tool);
  const answer = await client.call(turn, { callId: tool, serverId: "suite", tool, remote, input, signal });
  // A server may answer with an error; the suite checks what was sent.
  if ("waitsFor" in answer) throw new Error(JSON.stringify(answer));
}
await client.close();
await fetch.close();
