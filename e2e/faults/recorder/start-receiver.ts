import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs, type RecordedLine } from "./log-line.ts";

const KEEP_ALIVE_MS = 120_000;

type Note = (line: RecordedLine) => void;

/**
 * Answers a callback with the behaviour that its path `/hook/<behaviour>/…` names. `nth` counts the requests of one
 * delivery from 1.
 */
async function answer(behaviour: string, nth: number, response: ServerResponse): Promise<void> {
  const isFirst = nth === 1;
  const plain = (status: number, headers: Record<string, string> = {}) =>
    void response.writeHead(status, headers).end();
  const [name = "", count = ""] = behaviour.split("-x");
  switch (name) {
    case "500":
      return plain(nth <= Number(count) ? 500 : 200);
    case "wait-9900":
      await sleep(9_900);
      return plain(200);
    case "wait-10100":
      await sleep(isFirst ? 10_100 : 0);
      return plain(200);
    case "closing":
      return plain(200, { connection: "close" });
    case "slow":
      await sleep(150);
      return plain(200);
    case "redirect":
      return isFirst ? plain(302, { location: "http://10.0.0.1/" }) : plain(200);
    case "drip-headers":
      if (!isFirst) return plain(200);
      return drip(response, "HTTP/1.1 200 OK\r\nx-slow: ".concat("a".repeat(60)));
    case "drip-body":
      if (!isFirst) return plain(200);
      response.writeHead(200, { "content-length": "60" });
      response.flushHeaders();
      for (let sent = 0; sent < 60 && !response.destroyed; sent++) {
        response.write(".");
        await sleep(500);
      }
      return void response.end();
    case "endless":
      return endless(response);
    default:
      return plain(200);
  }
}

/** Writes a text directly to the socket, one byte every 500 ms. */
async function drip(response: ServerResponse, text: string): Promise<void> {
  for (const byte of text) {
    if (!response.socket || response.socket.destroyed) return;
    response.socket.write(byte);
    await sleep(500);
  }
  response.destroy();
}

/** Answers 200 with a body of up to 1 GB, as fast as the client reads it. */
async function endless(response: ServerResponse): Promise<void> {
  response.writeHead(200);
  const chunk = Buffer.alloc(65_536, ".");
  for (let sent = 0; sent < 1e9 && !response.destroyed; sent += chunk.length) {
    if (response.write(chunk)) continue;
    await new Promise<void>((resolve) => response.once("drain", resolve).once("close", resolve));
  }
  response.end();
}

/**
 * Starts the receiver of callbacks. It also serves the pages that the agent's tools open. @returns the receiver's port.
 */
export async function startReceiver(note: Note): Promise<number> {
  const seen = new Map<string, number>();
  let exchanges = 0;
  const server = createServer(async (request, response) => {
    response.on("error", () => {});
    const path = request.url ?? "/";
    if (!path.startsWith("/hook/")) {
      note({ atMs: monotonicMs(), type: "page", path });
      if (path.startsWith("/slow-page/")) await sleep(2_000);
      response.writeHead(200, { "content-type": "text/html" });
      return void response.end("<!doctype html><title>The page</title><h1>The page</h1>");
    }
    const firstByteAtMs = monotonicMs();
    const exchange = ++exchanges;
    const body = await readBody(request).catch(() => undefined);
    if (body === undefined) return;
    const delivery = String(request.headers["x-service-delivery"]);
    const nth = (seen.get(delivery) ?? 0) + 1;
    seen.set(delivery, nth);
    const signature = request.headers["x-service-signature"];
    note({
      atMs: monotonicMs(),
      type: "callback",
      path,
      delivery,
      exchange,
      firstByteAtMs,
      body,
      event: String(request.headers["x-service-event"]),
      signature: typeof signature === "string" ? signature : null,
    });
    response.setMaxListeners(0);
    response.once("close", () =>
      note({
        atMs: monotonicMs(),
        type: "callback-end",
        exchange,
        status: response.headersSent ? response.statusCode : null,
      }),
    );
    await answer(path.split("/")[2] ?? "", nth, response).catch(() => response.destroy());
  });
  // The timeout is long, because with the short default the server may close a connection when a client writes to it.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
