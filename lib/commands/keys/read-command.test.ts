import assert from "node:assert/strict";
import { test } from "node:test";
import { readKeysCommand } from "./read-command.ts";

const read = (words: string) => readKeysCommand(words.split(" ").filter(Boolean));

test("the words of a command are read", () => {
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
  assert.deepEqual(read("rotate 12ab"), { kind: "rotate", id: "12ab", body: {} });
  assert.deepEqual(read("rotate 12ab --overlap 7d"), {
    kind: "rotate",
    id: "12ab",
    body: { overlapHours: 168 },
  });
  assert.deepEqual(read("rotate 12ab --overlap 0h"), {
    kind: "rotate",
    id: "12ab",
    body: { overlapHours: 0 },
  });
});

test("help is a command as well, not a mistake", () => {
  for (const words of ["help", "--help", "create -h"]) assert.deepEqual(read(words), { kind: "help" }, words);
});

test("anything else is told in a sentence", () => {
  const cases: [string, RegExp][] = [
    ["", /^Which command\?$/],
    ["destroy", /^There is no command destroy\.$/],
    ["list --expires 90d", /^list takes no --expires\.$/],
    ["create --colour red", /colour/],
    ["create --owner", /owner/],
    ["create acme", /^acme: one word too many\.$/],
    ["revoke", /^revoke takes the id of a key/],
    ["revoke 12ab 34cd", /^34cd: one word too many\.$/],
    ["create --expires soon", /^--expires soon: must be like 90d or 12h\.$/],
    ["create --expires 0d", /^--expires 0d: must be/],
    ["rotate 12ab --overlap 1y", /^--overlap 1y: must be like/],
  ];
  for (const [words, sentence] of cases) {
    const command = read(words);
    assert.ok(command.kind === "wrong", words);
    assert.match(command.sentence, sentence, words);
  }
});
