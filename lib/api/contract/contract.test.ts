import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { handlers } from "../handlers/handlers.ts";
import { contract } from "./contract.ts";
import type { Operation } from "./operation.ts";

const app = join(import.meta.dirname, "../../../app");

/** The operations that route files serve, in the form `METHOD /path operation`. */
const mounted = readdirSync(app, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith("route.ts"))
  .flatMap((file) => {
    const path = `/${file
      .replaceAll("\\", "/")
      .replace("/route.ts", "")
      .replace(/\[(?:\.\.\.)?(\w+)\]/g, ":$1")}`;
    const [, operations = ""] = /mount\(\{([^}]*)\}\)/.exec(readFileSync(join(app, file), "utf8")) ?? [];
    return [...operations.matchAll(/([A-Z]+): "(\w+)"/g)].map(
      ([, method, name]) => `${method} ${path} ${name}`,
    );
  });

test("every operation of the contract is mounted at its path, and no other operation is mounted", () => {
  const described = Object.entries(contract).map(([name, { method, path }]) => `${method} ${path} ${name}`);
  assert.deepEqual(mounted.sort(), described.sort());
});

test("every operation has a handler", () => {
  assert.deepEqual(Object.keys(handlers).sort(), Object.keys(contract).sort());
});

test("every operation with a body limits its size, and its rate unless only visitors of the page call it", () => {
  for (const [name, operation] of Object.entries(contract)) {
    const isForVisitors = operation.auth.kind === "share" && !operation.auth.orKey;
    const hasBody = "body" in operation || "takesBytes" in operation;
    if (hasBody) assert.ok(operation.bodyBytesMax, name);
    if (hasBody && !isForVisitors) assert.ok("rate" in operation, name);
  }
});

test("API clients must send a JSON content type to create a session or post a message, and nowhere else", () => {
  const strict = Object.entries<Operation>(contract).filter(([, { path, requiresJsonType }]) =>
    Boolean(path.startsWith("/api/") && requiresJsonType),
  );
  assert.deepEqual(
    strict.map(([name]) => name),
    ["createSession", "postMessage"],
  );
});
