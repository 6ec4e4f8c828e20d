import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { saveFile } from "./save-file.ts";

const saved: { href: string; download: string }[] = [];
const revoked: string[] = [];

beforeEach(() => {
  saved.length = 0;
  revoked.length = 0;
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(URL, "createObjectURL", () => "blob:file");
  mock.method(URL, "revokeObjectURL", (address: string) => revoked.push(address));
  // A page of which the function uses only the links that it creates.
  const createElement = () => ({
    href: "",
    download: "",
    click() {
      saved.push({ href: this.href, download: this.download });
    },
  });
  Reflect.set(globalThis, "document", { createElement });
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
  Reflect.deleteProperty(globalThis, "document");
});

const found = { readStored: async () => new Blob(["text"]) };

test("a file is saved with its name, also if the percent-escapes of its path are malformed", async () => {
  assert.equal(await saveFile(found, "/api/files/a%20b.txt?x=1", ""), null);
  assert.equal(await saveFile(found, "/api/files/100%.txt", ""), null);
  assert.equal(await saveFile(found, "/api/files/%", "given.txt"), null);
  assert.deepEqual(
    saved.map(({ download }) => download),
    ["a b.txt", "100%.txt", "given.txt"],
  );
  assert.deepEqual(revoked, []);
  mock.timers.tick(60_000);
  assert.deepEqual(revoked, ["blob:file", "blob:file", "blob:file"]);
});

test("a file that cannot be read is named in a sentence", async () => {
  const problem = await saveFile({ readStored: async () => undefined }, "/api/files/a.txt", "");
  assert.equal(problem, "a.txt could not be loaded. It may be gone, or this link may not open it.");
  assert.deepEqual(saved, []);
});
