#!/usr/bin/env bash
#
# The MCP client waits for its whole timeout after the server has ended the stream of a response without the response.
#
# Versions:  @modelcontextprotocol/client 2.4.0, Node 24.21.0
#
# Expected:  A request of the revision 2026-07-28 whose response stream ends without a response is rejected at once. In
#            this revision a stream cannot be resumed and there is no other stream, so the response cannot arrive any
#            more. An end of the connection before the response headers is rejected at once, too.
# Actual:    The promise of the request stays pending until the timeout of the request, 60 s by default. The error then
#            is REQUEST_TIMEOUT, so that a caller cannot tell a broken answer from a slow server.
# Source:    `_requestWithSchemaViaCodec` in dist/src-*.mjs of the package: `send` is called without
#            `onRequestStreamEnd`, which `StreamableHTTPClientTransport` in dist/index.mjs would call at the end of the
#            stream. Only `subscriptions/listen` passes it.
#
# The lines below are the output seen. The script compares its output with them and exits with 1 if they differ.
#
#> response                            outcome with a timeout of 3 s
#> complete                            result
#> connection ends before the headers  rejected at once
#> stream ends without the response    REQUEST_TIMEOUT after the timeout

set -euo pipefail

script="$(cd "$(dirname "$0")" && pwd)/$(basename "$0")"
dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --loglevel=error "@modelcontextprotocol/client@2.4.0" >/dev/null

cat >"$dir/probe.mjs" <<'PROBE'
import { once } from "node:events";
import http from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const TIMEOUT_MS = 3_000;
const discovery = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: "private",
};
const event = (message) => `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
const answers = {
  complete: (id, response) =>
    response.end(event({ id, result: { resultType: "complete", content: [] } })),
  "connection ends before the headers": (_id, response) => response.destroy(),
  "stream ends without the response": (_id, response) =>
    response.end(event({ method: "notifications/message", params: { level: "info", data: "working" } })),
};

const server = http.createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { id, method, params } = JSON.parse(body);
  response.setHeader("content-type", "text/event-stream");
  if (method === "server/discover") response.end(event({ id, result: discovery }));
  else answers[params.name](id, response);
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const url = new URL(`http://127.0.0.1:${server.address().port}/mcp`);

const client = new Client(
  { name: "probe", version: "1" },
  { versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
await client.connect(new StreamableHTTPClientTransport(url));

console.log(`${"response".padEnd(36)}outcome with a timeout of ${TIMEOUT_MS / 1_000} s`);
for (const name of Object.keys(answers)) {
  const begun = performance.now();
  const outcome = await client
    .request({ method: "tools/call", params: { name, arguments: {} } }, { timeout: TIMEOUT_MS })
    .then(
      () => "result",
      ({ code }) =>
        performance.now() - begun < TIMEOUT_MS / 2 ? "rejected at once" : `${code} after the timeout`,
    );
  console.log(`${name.padEnd(36)}${outcome}`);
}
process.exit();
PROBE

node "$dir/probe.mjs" | tee "$dir/seen"
grep '^#> ' "$script" | sed 's/^#> //' >"$dir/expected"
diff "$dir/expected" "$dir/seen" >&2 || { echo "The behaviour has changed." >&2; exit 1; }
