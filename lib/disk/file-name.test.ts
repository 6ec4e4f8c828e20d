import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileNameBytes, joinBytes, listFolder, readFileName } from "./file-name.ts";

/** Names as Latin-1, each character a byte, and their texts. */
const NAMES: [bytes: string, text: string][] = [
  ["notes.md", "notes.md"],
  [Buffer.from("Grüße 😀").toString("latin1"), "Grüße 😀"],
  ["a\\b", "a\\b"],
  ["a\\xzz", "a\\xzz"],
  ["caf\xe9", "caf\\xe9"],
  ["\xff\xfe", "\\xff\\xfe"],
  ["one\ntwo", "one\\x0atwo"],
  ["esc\x1b[2J", "esc\\x1b[2J"],
  // Looks like an escape already.
  ["a\\xff", "a\\x5cxff"],
  ["a\\x5c", "a\\x5cx5c"],
  // A surrogate, an overlong slash and the start of a character that does not end.
  ["\xed\xa0\x80", "\\xed\\xa0\\x80"],
  ["\xc0\xaf", "\\xc0\\xaf"],
  ["\xe2\x82", "\\xe2\\x82"],
];
const toBytes = (name: string) => Buffer.from(name, "latin1");

describe("file names", () => {
  for (const [name, text] of NAMES)
    it(`${JSON.stringify(name)} is shown as ${text}, and converted back`, () => {
      assert.equal(readFileName(toBytes(name)), text);
      assert.deepEqual(fileNameBytes(text), toBytes(name));
    });

  it("every name of two bytes is converted back, and none to a dot segment, a slash or NUL", () => {
    for (let first = 1; first < 256; first++)
      for (let second = 1; second < 256; second++) {
        const bytes = Buffer.from([first, second]);
        assert.deepEqual(fileNameBytes(readFileName(bytes)), bytes);
      }
    for (const text of ["\\x2e\\x2e", "\\x2f", "\\x00"]) assert.equal(fileNameBytes(text).toString(), text);
  });

  it("a folder is listed by bytes", async () => {
    const folder = await mkdtemp(join(tmpdir(), "file-name-"));
    try {
      await writeFile(joinBytes(folder, Buffer.from([0x62, 0xff])), "");
      await writeFile(join(folder, "plain"), "");
      const names: string[] = [];
      for await (const entry of listFolder(folder))
        names.push(`${readFileName(entry.name)} ${entry.isFile()}`);
      assert.deepEqual(names.toSorted(), ["b\\xff true", "plain true"]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
