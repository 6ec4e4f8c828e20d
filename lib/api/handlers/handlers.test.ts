import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";

test("no operation has a handler in two groups, where one would silently replace the other", async () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith("-handlers.ts"));
  const names: string[] = [];
  for (const file of files) {
    const module: Record<string, object> = await import(`./${file}`);
    for (const [name, group] of Object.entries(module))
      if (name.endsWith("Handlers")) names.push(...Object.keys(group));
  }
  const { handlers } = await import("./handlers.ts");
  assert.deepEqual(names.toSorted(), Object.keys(handlers).toSorted());
});
