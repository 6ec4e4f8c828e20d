import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, test } from "node:test";
import { openHttpTestService } from "../http-testing.ts";
import { OTHER_KEY, TEST_KEY } from "../testing.ts";

const service = await openHttpTestService();
const { hostname, port, host } = new URL(service.baseUrl);
const uploads: Socket[] = [];
after(async () => {
  for (const upload of uploads) upload.destroy();
  await service.close();
});

/** Begins to upload a body of 8 MB, and sends only the first bytes. */
async function stall(path: string, bytes: number, headers = ""): Promise<Socket> {
  const socket = connect(Number(port), hostname);
  uploads.push(socket);
  await once(socket, "connect");
  const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n`;
  await new Promise((resolve) => socket.write(`${head}${headers}\r\n"${"x".repeat(bytes)}`, resolve));
  return socket;
}

const create = (key: string) =>
  service.fetch(`${service.baseUrl}/api/session`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      messages: [{ role: "user", parts: [{ type: "text", text: "x".repeat(1_000_000) }] }],
    }),
  });

test("stalled uploads with one key delay neither the large bodies of other owners nor those of their own", async () => {
  for (let count = 0; count < 12; count++)
    await stall("/api/session", 400_000, `Authorization: Bearer ${TEST_KEY}\r\n`);
  for (const key of [OTHER_KEY, TEST_KEY]) assert.equal((await create(key)).status, 201, key);
});

test("an upload that stays stalled is a 408 in the envelope, and its connection ends", async () => {
  const socket = await stall("/api/session", 10, `Authorization: Bearer ${TEST_KEY}\r\n`);
  const answer = Buffer.concat(await socket.toArray()).toString();
  assert.match(answer, /^HTTP\/1\.1 408 /);
  assert.match(answer, /\r\nConnection: close\r\n/i);
  const [, body = ""] = answer.split("\r\n\r\n");
  assert.deepEqual(JSON.parse(body), {
    success: false,
    error: "body: arrives too slowly; send at least 16 KiB per second",
    code: "request_timeout",
  });
});
