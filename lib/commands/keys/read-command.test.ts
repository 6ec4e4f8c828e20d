import assert from "node:assert/strict";
import { test } from "node:test";
import { readKeysCommand } from "./read-command.ts";

const read = (words: string) => readKeysCommand(words.split(" ").filter(Boolean));

test("commands are parsed", () => {
  assert.deepEqual(read("create"), { kind: "create", body: { ownerId: "local", name: "unnamed" } });
  assert.deepEqual(
    read("create --owner acme --name ci --scopes sessions:read,sessions:write --expires 90d"),
    {
      kind: "create",
      body: { ownerId: "acme", name: "ci", scopes: ["sessions:read", "sessions:write"], expiresInDays: 90 },
    },
  );
  assert.deepEqual(read("list"), { kind: "list", owner: undefined });
  assert.deepEqual(read("list --owner acme"), { kind: "list", owner: "acme" });
  assert.deepEqual(read("revoke 12ab"), { kind: "revoke", id: "12ab" });
  assert.deepEqual(read("update 12ab --scopes sessions:read"), {
    kind: "update",
    id: "12ab",
    body: { scopes: ["sessions:read"] },
  });
  assert.deepEqual(read("rotate 12ab"), { kind: "rotate", id: "12ab", body: {} });
  assert.deepEqual(read("rotate 12ab --overlap 7d"), {
    kind: "rotate",
    id: "12ab",
    body: { overlapHours: 168 },
  });
  assert.deepEqual(read("rotate-encryption"), { kind: "rotate-encryption" });
  assert.deepEqual(read("rotate 12ab --overlap 0h"), {
    kind: "rotate",
    id: "12ab",
    body: { overlapHours: 0 },
  });
});

test("help is a command, not an error", () => {
  for (const words of ["help", "--help", "create -h"]) assert.deepEqual(read(words), { kind: "help" }, words);
});

test("invalid commands get an error message", () => {
  const cases: [string, RegExp][] = [
    ["", /^Missing command\.$/],
    ["destroy", /^Unknown command: destroy\.$/],
    ["list --expires 90d", /^list does not accept --expires\.$/],
    ["create --colour red", /colour/],
    ["create --owner", /owner/],
    ["create acme", /^Unexpected argument: acme\.$/],
    ["revoke", /^revoke requires the id of a key/],
    ["rotate-encryption 12ab", /^Unexpected argument: 12ab\.$/],
    ["revoke 12ab 34cd", /^Unexpected argument: 34cd\.$/],
    ["update 12ab", /^update requires --scopes\.$/],
    ["create --expires soon", /^--expires soon: must be a duration such as 90d or 12h\.$/],
    ["create --expires 0d", /^--expires 0d: must be/],
    ["rotate 12ab --overlap 1y", /^--overlap 1y: must be a duration/],
  ];
  for (const [words, message] of cases) {
    const command = read(words);
    assert.ok(command.kind === "invalid", words);
    assert.match(command.message, message, words);
  }
});
