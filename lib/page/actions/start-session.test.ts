import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { composeCurl, composeRequest, fieldOfError } from "./start-session.ts";

const plain = { task: "Look", targetUrl: "", outputSchema: undefined, mayDelegate: false };

test("the command's body is the request, whatever quotes the task contains", async () => {
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

test("an empty address is omitted from the request", () => {
  assert.deepEqual(Object.keys(composeRequest(plain)), ["messages"]);
});

test("request and command have `subAgents` only for a session that may delegate", () => {
  const delegating = composeRequest({ ...plain, mayDelegate: true });
  assert.equal(delegating.subAgents, true);
  assert.match(composeCurl("http://127.0.0.1:3000", delegating), /"subAgents": true\n\}'$/);
  assert.doesNotMatch(composeCurl("http://127.0.0.1:3000", composeRequest(plain)), /subAgents/);
});

test("an API error is assigned to the field that it names", () => {
  assert.equal(fieldOfError("targetUrl: must be an absolute URL"), "targetUrl");
  assert.equal(fieldOfError("messages[0].parts: is required"), "task");
  assert.equal(fieldOfError("outputSchema.type: must be object"), "outputSchema");
  assert.equal(fieldOfError("the service is shutting down"), undefined);
});
