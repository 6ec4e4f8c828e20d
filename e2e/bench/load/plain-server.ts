import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

// A minimal baseline: a server that serves a script from memory, with an ETag.

let script = Buffer.alloc(0);
let zipped = Buffer.alloc(0);
const server = createServer(({ headers }, response) => {
  response.setHeader("content-type", "text/javascript; charset=utf-8");
  response.setHeader("etag", '"script"');
  if (headers["if-none-match"] !== undefined) return void response.writeHead(304).end();
  if (headers["accept-encoding"] === undefined) return void response.end(script);
  response.setHeader("content-encoding", "gzip");
  response.end(zipped);
});

process.on("message", (text: string) => {
  script = Buffer.from(text);
  zipped = gzipSync(script, { level: 9 });
  process.send?.("ready");
});
process.on("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
