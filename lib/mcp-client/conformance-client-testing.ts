import { readDefaults } from "#lib/events/form-answer.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createGuardedWebFetch } from "#lib/net/fetch/guarded-web-fetch.ts";
import { createMcpClient } from "./create-mcp-client.ts";

// The program that the official conformance suite runs as the client under test, with the URL of its server. The suite
// speaks http on this machine, which sessions may not; everything else is as in the service.

const url = process.argv.at(-1) ?? "";
const rule = createAddressRule({ allow: ["localhost", "127.0.0.1", "::1"] });
const fetch = createGuardedWebFetch(rule, { protocols: ["http:"] });
const client = createMcpClient({
  fetch,
  readSecrets: async () => ({ headers: {}, url: undefined }),
  // A person who takes every default.
  elicitations: {
    askAndWait: async (_, { form }) => ({ state: "answered", answer: form ? readDefaults(form) : "yes" }),
  },
});
const turn = {
  sessionId: "ses_suite",
  runId: "run_suite",
  epoch: 1,
  isPersonPresent: true,
  offerKey: "",
  servers: { suite: { url, type: "http" as const } },
};
const { signal } = new AbortController();

const { tools, skipped } = await client.list(turn, client.listServerIds(turn), signal);
if (skipped.length > 0) throw new Error(JSON.stringify(skipped));
for (const { serverId, tool } of tools) {
  const input = tool === "add_numbers" ? { a: 5, b: 3 } : {};
  const { isError, parts } = await client.call(turn, { callId: tool, serverId, tool, input, signal });
  if (isError) throw new Error(JSON.stringify(parts));
}
await client.close();
await fetch.close();
