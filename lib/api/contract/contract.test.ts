import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { handlers } from "../operations/handlers.ts";
import { contract } from "./contract.ts";
import type { Operation } from "./operation.ts";

const app = join(import.meta.dirname, "../../../app");

/** What the route files mount: `METHOD /path operation`. */
const mounted = readdirSync(app, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith("route.ts"))
  .flatMap((file) => {
    const path = `/${file
      .replaceAll("\\", "/")
      .replace("/route.ts", "")
      .replace(/\[(\w+)\]/g, ":$1")}`;
    const [, operations = ""] = /mount\(\{([^}]*)\}\)/.exec(readFileSync(join(app, file), "utf8")) ?? [];
    return [...operations.matchAll(/([A-Z]+): "(\w+)"/g)].map(
      ([, method, name]) => `${method} ${path} ${name}`,
    );
  });

test("every operation of the contract is mounted at its path, and nothing else is", () => {
  const described = Object.entries(contract).map(([name, { method, path }]) => `${method} ${path} ${name}`);
  assert.deepEqual(mounted.sort(), described.sort());
});

test("every operation has a handler", () => {
  assert.deepEqual(Object.keys(handlers).sort(), Object.keys(contract).sort());
});

test("every operation with a body has a cap, and a limit on how often it may be called unless a person does", () => {
  for (const [name, operation] of Object.entries(contract)) {
    const isPersons = operation.auth.kind === "share" && !operation.auth.orKey;
    if ("body" in operation) assert.ok(operation.bodyBytesMax, name);
    if ("body" in operation && !isPersons) assert.ok("rate" in operation, name);
  }
});

test("a program's body must say that it is JSON where a session is created or a message posted, nowhere else", () => {
  const strict = Object.entries<Operation>(contract).filter(([, { path, requiresJsonType }]) =>
    Boolean(path.startsWith("/api/") && requiresJsonType),
  );
  assert.deepEqual(
    strict.map(([name]) => name),
    ["createSession", "postMessage"],
  );
});
