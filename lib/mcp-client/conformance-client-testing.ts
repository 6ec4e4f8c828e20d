import { readDefaults } from "#lib/events/form-answer.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createGuardedWebFetch } from "#lib/net/fetch/guarded-web-fetch.ts";
import { createMcpClient } from "./create-mcp-client.ts";

// The client program that the official conformance suite tests. Its last argument is the URL of the suite's server. The
// suite's server uses http on loopback. This program allows that, unlike the service. Everything else is as in the
// service.

const url = process.argv.at(-1) ?? "";
const rule = createAddressRule({ allow: ["localhost", "127.0.0.1", "::1"] });
const fetch = createGuardedWebFetch(rule, { protocols: ["http:"] });
const client = createMcpClient({
  fetch,
  checkOutput: async () => ({ valid: true }),
  readSecrets: async () => ({ headers: {}, url: undefined }),
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
  isPersonPresent: true,
  offerKey: "",
  revisions: {},
  servers: { suite: { url, type: "http" as const } },
};
const { signal } = new AbortController();

const { tools, skipped } = await client.list(turn, client.listServerIds(turn), signal);
if (skipped.length > 0) throw new Error(JSON.stringify(skipped));
for (const remote of tools) {
  const { serverId, tool } = remote;
  const input = tool === "add_numbers" ? { a: 5, b: 3 } : {};
  const answer = await client.call(turn, { callId: tool, serverId, tool, remote, input, signal });
  if ("waitsFor" in answer || answer.isError) throw new Error(JSON.stringify(answer));
}
await client.close();
await fetch.close();
