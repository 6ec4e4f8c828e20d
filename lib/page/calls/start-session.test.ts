import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { composeCurl, composeRequest, fieldOfError } from "./start-session.ts";

test("the command's body is the request, whatever quotes the task holds", async () => {
  const schema = { type: "object", properties: { name: { type: "string" } } };
  const request = composeRequest(`Don't "guess"\n$HOME \`id\` \\`, "https://shop.example/?a='1'", schema);
  const command = composeCurl("http://127.0.0.1:3000", request);
  const script = `curl() { printf %s "\${@: -1}"; }\n${command}`;
  const { stdout } = await promisify(execFile)("bash", ["-c", script]);
  assert.deepEqual(JSON.parse(stdout), request);
});

test("an empty address is left out of the request", () => {
  assert.deepEqual(Object.keys(composeRequest("Look", "", undefined)), ["messages"]);
});

test("an error of the API is shown at the field it names", () => {
  assert.equal(fieldOfError("targetUrl: must be an absolute URL"), "targetUrl");
  assert.equal(fieldOfError("messages[0].parts: is required"), "task");
  assert.equal(fieldOfError("outputSchema.type: must be object"), "outputSchema");
  assert.equal(fieldOfError("the service is shutting down"), undefined);
});
