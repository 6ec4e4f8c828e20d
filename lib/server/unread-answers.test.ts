import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { createUnreadAnswers } from "./unread-answers.ts";

const ANSWER_BYTES = 16 * 2 ** 20;
const unread = createUnreadAnswers(60_000, 3.5 * ANSWER_BYTES);
const server = createServer((_request, response) => {
  unread.follow(response);
  response.end(Buffer.alloc(ANSWER_BYTES));
});
let port: number;

before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

/** Requests the answer. Its client does not read it yet. */
async function request(): Promise<IncomingMessage> {
  const asked = get({ port, host: "127.0.0.1", agent: false });
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return answer;
}

/** Reads an answer. @returns its size, or "broken off". */
async function read(answer: IncomingMessage): Promise<number | "broken off"> {
  let bytes = 0;
  try {
    for await (const chunk of answer) bytes += chunk.length;
    return bytes;
  } catch {
    return "broken off";
  }
}

test("answers that wait for slow clients are broken off beyond the limit, the one that waits longest first", async () => {
  const answers: IncomingMessage[] = [];
  for (let count = 0; count < 5; count += 1) answers.push(await request());
  const ends: unknown[] = [];
  for (const answer of answers) ends.push(await read(answer));
  const whole = ANSWER_BYTES;
  assert.deepEqual(ends, ["broken off", "broken off", whole, whole, whole]);
  assert.equal(await read(await request()), whole);
});
