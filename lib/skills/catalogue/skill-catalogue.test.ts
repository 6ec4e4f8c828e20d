import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { skillText, writeSkill } from "../testing.ts";
import { createSkillCatalogue } from "./skill-catalogue.ts";

const root = await mkdtemp(join(tmpdir(), "skills-test-"));
after(() => rm(root, { recursive: true, force: true }));
let count = 0;

async function open(prepare: (skillsDir: string) => Promise<void>, hasLibrary = false) {
  const skillsDir = join(root, `case-${++count}`);
  await mkdir(skillsDir);
  await prepare(skillsDir);
  const lines: string[] = [];
  const logger = {
    warn: (fields: object, message: string) => void lines.push(`${message}: ${JSON.stringify(fields)}`),
  };
  const empty = join(root, "empty");
  await mkdir(empty, { recursive: true });
  const catalogue = await createSkillCatalogue({
    logger,
    skillsDir,
    checkEveryMs: 0,
    ...(hasLibrary ? {} : { libraryDir: empty }),
  });
  return { skillsDir, lines, catalogue };
}
const names = (skills: readonly { name: string }[]) => skills.map(({ name }) => name);

describe("the catalogue of skills", () => {
  it("loads the project's own skills without a flaw, and a deployment's skill of the same name wins", async () => {
    const { catalogue, lines } = await open(async (folder) => {
      await writeSkill(folder, "copy-review", { "SKILL.md": skillText("copy-review", "Our own.") });
      await writeSkill(folder, "brand-voice", { "references/a.md": "a", ".hidden": "x" });
    }, true);
    const skills = await catalogue.current();
    assert.deepEqual(lines, []);
    assert.deepEqual(
      skills.map(({ name, source }) => `${name} ${source}`),
      [
        "accessibility-audit built_in",
        "brand-voice deployment",
        "copy-review deployment",
        "form-audit built_in",
      ],
    );
    const [, brand] = skills;
    assert.deepEqual(
      brand?.files.map(({ path }) => path),
      ["SKILL.md", "references/a.md"],
    );
    assert.match(brand?.version ?? "", /^[0-9a-f]{64}$/);
  });

  it("reads a skill again after a file changed, and only changed content makes a new version", async () => {
    const { catalogue, skillsDir } = await open((folder) =>
      writeSkill(folder, "one", { "scripts/a.mjs": "1" }),
    );
    const [before] = await catalogue.current();
    const script = join(skillsDir, "one/scripts/a.mjs");
    await utimes(script, new Date(0), new Date(0));
    const [touched] = await catalogue.current();
    assert.equal(touched?.version, before?.version);
    await writeFile(script, "2");
    const [changed] = await catalogue.current();
    assert.notEqual(changed?.version, before?.version);
    await rm(join(skillsDir, "one"), { recursive: true });
    assert.deepEqual(await catalogue.current(), []);
  });

  it("distinguishes files that differ only in where one ends and the next begins", async () => {
    const versions = new Set<string | undefined>();
    for (const files of [{ ab: "c" }, { a: "bc" }, { a: "b", c: "" }, { a: "b", b: "c" }]) {
      const { catalogue } = await open((folder) => writeSkill(folder, "one", files));
      versions.add((await catalogue.current())[0]?.version);
    }
    assert.equal(versions.size, 4);
  });

  it("logs a flaw once until it changes, and keeps the other skills", async () => {
    const { catalogue, skillsDir, lines } = await open(async (folder) => {
      await writeSkill(folder, "good");
      await writeSkill(folder, "bad", { "SKILL.md": "no front matter" });
      await writeFile(join(folder, "README.md"), "not a skill");
    });
    await catalogue.current();
    assert.deepEqual(names(await catalogue.current()), ["good"]);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /skill was skipped.*\/bad".*does not begin with front matter/);
    await writeFile(join(skillsDir, "bad/SKILL.md"), skillText("other"));
    await catalogue.current();
    assert.match(lines[1] ?? "", /name: is .*other.*, but must be the name of the folder/);
    await writeFile(join(skillsDir, "bad/SKILL.md"), skillText("bad"));
    assert.deepEqual(names(await catalogue.current()), ["bad", "good"]);
    await writeFile(join(skillsDir, "bad/SKILL.md"), "no front matter");
    await catalogue.current();
    assert.equal(lines.length, 3);
  });

  it("logs one line for a missing folder, and keeps the library", async () => {
    const { catalogue, skillsDir, lines } = await open((folder) => rm(folder, { recursive: true }), true);
    assert.equal((await catalogue.current()).length, 3);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /cannot be read: ENOENT/);
    await writeSkill(skillsDir, "late");
    assert.equal((await catalogue.current()).length, 4);
  });
});

const outside = join(root, "outside.md");
await writeFile(outside, "secret");
const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefgh".replace(/./g, (key, at: number) => {
  const last = "abcdefg"[at];
  return `${key}: &${key} [${`*${last},`.repeat(9).slice(0, -1)}]\n`;
})}`;
const matter = (text: string) => ({ "SKILL.md": `---\n${text}\n---\nbody` });
const hostile: [title: string, files: Record<string, string | Uint8Array>, flaw: RegExp][] = [
  ["no SKILL.md", { "SKILL.md": "", "skill.md": "x" }, /does not begin with front matter/],
  ["front matter without an end", { "SKILL.md": "---\nname: bad\n" }, /does not begin with front matter/],
  ["no name", matter("description: x"), /^name: /],
  ["an empty description", matter("name: bad\ndescription: '  '"), /^description: must not be empty/],
  ["a long description", matter(`name: bad\ndescription: ${"x".repeat(1_025)}`), /at most 1024 characters/],
  ["a name in capitals", matter("name: Bad\ndescription: x"), /^name: must be lower-case/],
  ["a name with two hyphens", matter("name: ba--d\ndescription: x"), /^name: must be lower-case/],
  ["a name that is a path", matter("name: ../bad\ndescription: x"), /^name: must be lower-case/],
  ["a name of another folder", matter("name: constructor\ndescription: x"), /must be the name of the folder/],
  ["a long name", matter(`name: ${"a".repeat(65)}\ndescription: x`), /at most 64 characters/],
  ["a name that is no text", matter("name: [bad]\ndescription: x"), /^name: /],
  ["a list", matter("- name: bad"), /^front matter: /],
  ["a key twice", matter("name: bad\nname: bad\ndescription: x"), /^front matter: Map keys must be unique/],
  [
    "aliases that multiply",
    matter(`name: bad\ndescription: x\nmetadata:\n  z: 1\n${bomb}`),
    /^front matter: Alias resolution is disabled/,
  ],
  ["one alias", matter("name: &n bad\ndescription: *n"), /^front matter: Alias resolution is disabled/],
  ["deep nesting", matter(`name: bad\ndescription: x\nmetadata: ${"[".repeat(8_000)}`), /^front matter: /],
  ["a tag", matter("name: bad\ndescription: !!js/function 'x'"), /^front matter: Unresolved tag/],
  [
    "front matter of 20 kB",
    matter(`name: bad\ndescription: x\nlicense: ${"x".repeat(20_000)}`),
    /16384 bytes/,
  ],
  ["a SKILL.md that is not text", { "SKILL.md": Uint8Array.of(0xff, 0xfe, 0) }, /is not UTF-8 text/],
  ["a NUL in it", { "SKILL.md": `${skillText("bad")}\0` }, /is not UTF-8 text/],
  [
    "a file of 300 kB",
    { "assets/big.bin": new Uint8Array(300_000) },
    /assets\/big.bin has more than 262144 bytes/,
  ],
  [
    "more than 1 MiB in all",
    Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`assets/${n}`, new Uint8Array(250_000)])),
    /more than 1048576 bytes/,
  ],
  ["65 files", Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`f${n}`, ""])), /more than 64 files/],
  ["a file name with a line break", { "a\nb": "" }, /character that is not allowed/],
  ["a file name with a backslash", { "a\\..\\b": "" }, /character that is not allowed/],
  ["a long path", { [`${"d".repeat(110)}/${"f".repeat(110)}`]: "" }, /more than 200 characters/],
];

describe("hostile skills", () => {
  for (const [title, files, flaw] of hostile)
    it(`skips a skill with ${title}`, async () => {
      const { catalogue, lines } = await open(async (folder) => {
        await writeSkill(folder, "bad", files);
        await writeSkill(folder, "good");
      });
      assert.deepEqual(names(await catalogue.current()), ["good"]);
      assert.equal(lines.length, 1);
      const logged = JSON.parse((lines[0] ?? "").replace(/^[^{]*/, "")) as { flaw: string };
      assert.match(logged.flaw, flaw);
    });

  it("accepts names of object properties, and does not change prototypes", async () => {
    const { catalogue } = await open(async (folder) => {
      for (const name of ["constructor", "valueof", "prototype"]) await writeSkill(folder, name);
      const text =
        "name: proto\ndescription: x\nmetadata:\n  __proto__: {polluted: true}\n__proto__: {polluted: true}";
      await writeSkill(folder, "proto", matter(text));
    });
    assert.deepEqual(names(await catalogue.current()), ["constructor", "proto", "prototype", "valueof"]);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  it("refuses links that leave the folder, and follows those that stay in it", async () => {
    const { catalogue, lines } = await open(async (folder) => {
      for (const name of ["file", "folder", "loop", "nowhere", "inside"]) await writeSkill(folder, name);
      await symlink(outside, join(folder, "file/secret.md"));
      await symlink(root, join(folder, "folder/all"));
      await symlink("loop.md", join(folder, "loop/loop.md"));
      await symlink("nothing.md", join(folder, "nowhere/link.md"));
      // Kubernetes mounts the keys of a ConfigMap as links of this kind.
      await mkdir(join(folder, "inside/..data"));
      await writeFile(join(folder, "inside/..data/more.md"), "more");
      await symlink("..data/more.md", join(folder, "inside/more.md"));
      await symlink("/etc", join(folder, "etc"));
      await writeSkill(root, "elsewhere");
      await symlink(join(root, "elsewhere"), join(folder, "elsewhere"));
    });
    const [inside, ...others] = await catalogue.current();
    assert.deepEqual(
      inside?.files.map(({ path }) => path),
      ["SKILL.md", "more.md"],
    );
    assert.deepEqual(others, []);
    assert.equal(lines.length, 6);
    for (const line of lines) assert.match(line, /leads out|leads nowhere/);
  });

  it("skips pipes and devices without waiting for them", async () => {
    const { catalogue, lines } = await open(async (folder) => {
      await writeSkill(folder, "pipe");
      execFileSync("mkfifo", [join(folder, "pipe/SKILL2.md")]);
    });
    assert.deepEqual(await catalogue.current(), []);
    assert.match(lines[0] ?? "", /is neither a file nor a folder/);
  });

  it("stops at 10,000 files, at 10,000 folders and at 40 skills", async () => {
    const { catalogue, lines } = await open(async (folder) => {
      await mkdir(join(folder, "many/deep"), { recursive: true });
      await writeFile(join(folder, "many/SKILL.md"), skillText("many"));
      for (let n = 0; n < 10_000; n++) await writeFile(join(folder, `many/deep/.${n}`), "");
      for (let n = 0; n < 40; n++) await writeSkill(folder, `skill-${String(n).padStart(2, "0")}`);
    });
    assert.equal((await catalogue.current()).length, 32);
    assert.match(lines[0] ?? "", /many.*more than 200 files and folders/);
    assert.equal(lines.length, 9);
    const crowded = await open(async (folder) => {
      for (let n = 0; n < 1_100; n++) await mkdir(join(folder, `f${n}`));
    });
    assert.deepEqual(await crowded.catalogue.current(), []);
    assert.match(crowded.lines[0] ?? "", /more than 1000 folders/);
    assert.equal(crowded.lines.length, 1);
  });

  it("reads either the old or the new state while a skill is replaced", async () => {
    const { catalogue, skillsDir } = await open((folder) => writeSkill(folder, "one", { "a.txt": "old" }));
    await writeSkill(root, "one", { "a.txt": "new" });
    const seen = new Set<string>();
    const replacing = (async () => {
      await rename(join(skillsDir, "one"), join(root, "old-one"));
      await rename(join(root, "one"), join(skillsDir, "one"));
    })();
    for (let n = 0; n < 20; n++)
      for (const { files } of await catalogue.current())
        seen.add(Buffer.from(files.find(({ path }) => path === "a.txt")?.bytes ?? []).toString());
    await replacing;
    const [last] = await catalogue.current();
    assert.equal(Buffer.from(last?.files.at(-1)?.bytes ?? []).toString(), "new");
    for (const text of seen) assert.match(text, /^(old|new)$/);
  });
});
