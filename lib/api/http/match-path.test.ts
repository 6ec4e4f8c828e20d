import assert from "node:assert/strict";
import { test } from "node:test";
import { contract } from "../contract/contract.ts";
import { createPathMatcher } from "./match-path.ts";

const match = createPathMatcher(contract);

test("every operation of the contract is found at its path, with the path's own parameters", () => {
  for (const [name, { method, path }] of Object.entries(contract)) {
    const found = match(path.replace(/:(\w+)/g, "$1-value"));
    assert.equal(found?.operations[method], name);
    const params = [...path.matchAll(/:(\w+)/g)].map(([, parameter]) => [parameter, `${parameter}-value`]);
    assert.deepEqual(found?.params, Object.fromEntries(params));
  }
});

test("a path has the operations of all its methods", () => {
  assert.deepEqual(match("/api/sessions/ses_a/browser")?.operations, {
    GET: "readBrowser",
    POST: "retargetBrowser",
  });
});

test("parameters are decoded, literal parts are not", () => {
  assert.equal(match("/api/sessions/a%2Fb/browser")?.params.sessionId, "a/b");
  assert.equal(match("/api/%68ealth"), undefined);
});

test("a path without an operation is not found", () => {
  for (const path of [
    "/",
    "/api",
    "/api/",
    "/api/nothing",
    "/api/health/",
    "/api/health/x",
    "//api/health",
    "/API/health",
    "/api/sessions/",
    "/api/sessions/ses_a/x",
    "/api/sessions//browser",
    "/api/sessions/ses_a/browser/",
    "/api/__proto__",
    "/constructor",
  ])
    assert.equal(match(path), undefined, path);
});
