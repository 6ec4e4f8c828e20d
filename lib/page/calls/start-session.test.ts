import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { composeCurl, composeRequest, fieldOfError } from "./start-session.ts";

const plain = { task: "Look", targetUrl: "", outputSchema: undefined, mayDelegate: false };

test("the command's body is the request, whatever quotes the task holds", async () => {
  const schema = { type: "object", properties: { name: { type: "string" } } };
  const request = composeRequest({
    task: `Don't "guess"\n$HOME \`id\` \\`,
    targetUrl: "https://shop.example/?a='1'",
    outputSchema: schema,
    mayDelegate: true,
  });
  const command = composeCurl("http://127.0.0.1:3000", request);
  const script = `curl() { printf %s "\${@: -1}"; }\n${command}`;
  const { stdout } = await promisify(execFile)("bash", ["-c", script]);
  assert.deepEqual(JSON.parse(stdout), request);
});

test("an empty address is left out of the request", () => {
  assert.deepEqual(Object.keys(composeRequest(plain)), ["messages"]);
});

test("a session that may delegate asks for it in the request and in the command; any other does not name it", () => {
  const delegating = composeRequest({ ...plain, mayDelegate: true });
  assert.equal(delegating.subAgents, true);
  assert.match(composeCurl("http://127.0.0.1:3000", delegating), /"subAgents": true\n\}'$/);
  assert.doesNotMatch(composeCurl("http://127.0.0.1:3000", composeRequest(plain)), /subAgents/);
});

test("an error of the API is shown at the field it names", () => {
  assert.equal(fieldOfError("targetUrl: must be an absolute URL"), "targetUrl");
  assert.equal(fieldOfError("messages[0].parts: is required"), "task");
  assert.equal(fieldOfError("outputSchema.type: must be object"), "outputSchema");
  assert.equal(fieldOfError("the service is shutting down"), undefined);
});
