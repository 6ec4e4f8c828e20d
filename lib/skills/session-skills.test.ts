import assert from "node:assert/strict";
import { after, it } from "node:test";
import type { Database } from "#db/client.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createSessionSkills } from "./session-skills.ts";
import type { Skill } from "./skill.ts";
import { insertVersions } from "./skill-store.ts";

const { db, close } = await openTestDatabase();
after(close);

const skill = (name: string): Skill => ({
  name,
  description: `About ${name}.`,
  source: "deployment",
  version: `version of ${name}`,
  files: [{ path: "SKILL.md", bytes: new Uint8Array([1]) }],
});

it("describes all skills of a session even if other versions fill the cache meanwhile", async () => {
  const [first, second] = [skill("first"), skill("second")];
  const others = Array.from({ length: 300 }, (_, index) => skill(`other-${index}`));
  await insertVersions(db, [first, second, ...others]);
  let gate = Promise.resolve();
  // Wraps the database so that each query waits for the promise in `gate`.
  const gatedDb = {
    select: (fields: Parameters<Database["select"]>[0]) => ({
      from: (table: never) => ({
        where: (where: never) =>
          gate.then(() =>
            db
              .select(fields as never)
              .from(table)
              .where(where),
          ),
      }),
    }),
  } as unknown as Database;
  const skills = createSessionSkills({ db: gatedDb, catalogue: { current: async () => [] } });
  await skills.describe([first]);
  const opening = Promise.withResolvers<void>();
  gate = opening.promise;
  const both = skills.describe([first, second]);
  gate = Promise.resolve();
  await skills.describe(others);
  opening.resolve();
  assert.deepEqual(
    (await both).map(({ name }) => name),
    ["first", "second"],
  );
});
