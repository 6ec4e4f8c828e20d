import assert from "node:assert/strict";
import { after, test } from "node:test";
import { bytes, makeSandboxFixture, readText } from "./sandbox-fixture.ts";
import { downloadsIn, storeDownload } from "./store-download.ts";

const { sandboxes, remove } = await makeSandboxFixture();
after(remove);

test("a step that is repeated has no further effect, and another file at the path is left as it is", async () => {
  const workspace = await sandboxes.open("ses_downloads");
  const downloads = downloadsIn(workspace);
  assert.equal(await storeDownload(downloads, "report.csv", bytes("first")), "downloads/report.csv");
  for (const content of ["second", "second"])
    assert.equal(await downloads.store("downloads/report (2).csv", bytes(content)), true);
  for (const content of ["secon", "second and more", "third!"])
    assert.equal(await downloads.store("downloads/report (2).csv", bytes(content)), false);
  assert.equal(await readText(workspace, "downloads/report (2).csv"), "second");
  assert.equal(await downloads.choosePath("report.csv"), "downloads/report (3).csv");
});

test("a path that another session takes meanwhile is chosen again", async () => {
  const workspace = await sandboxes.open("ses_shared");
  const downloads = downloadsIn(workspace);
  let isTaken = false;
  const path = await storeDownload(
    {
      ...downloads,
      async choosePath(name) {
        const chosen = await downloads.choosePath(name);
        if (!isTaken) await workspace.writeFile(chosen, bytes("of a sub-agent"));
        isTaken = true;
        return chosen;
      },
    },
    "a.txt",
    bytes("of the agent"),
  );
  assert.equal(path, "downloads/a (2).txt");
  assert.equal(await readText(workspace, "downloads/a.txt"), "of a sub-agent");
});
