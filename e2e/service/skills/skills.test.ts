import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { readOfferedTools } from "#e2e/fixtures/offered-tools.ts";
import { skillText, writeSkill } from "#lib/skills/testing.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { playFollowUp, playTurn, readOffered, step } from "../variants/variants-testing.ts";

type ListedSkill = { name: string; description: string; version: string; source: string; files: number };

const SKILL_TOOLS = ["read_skill", "run_skill_script"];
const ECHO = "console.log('VERSION', JSON.stringify(process.argv.slice(2)));";

let skillsDir: string;
let service: TestService;

before(async () => {
  skillsDir = await mkdtemp(join(tmpdir(), "skills-dir-"));
  await writeOwn("one");
  service = await open();
});
after(async () => {
  await service.close();
  await rm(skillsDir, { recursive: true, force: true });
});

/** Opens a service with an additional skill. The sandbox is unconfined, so that the tests do not need bubblewrap. */
const open = (variables: Record<string, string> = {}, dataDir?: string) =>
  openTestService({ SANDBOX: "unconfined", SKILLS_DIR: skillsDir, ...variables }, dataDir);

async function writeOwn(version: string): Promise<void> {
  await writeSkill(skillsDir, "house-style", {
    "SKILL.md": skillText("house-style", `Follow version ${version}.`, `House style, ${version}.`),
    "scripts/echo.mjs": ECHO.replace("VERSION", version),
    "references/words.md": `words of ${version}`,
    "assets/logo.bin": Uint8Array.of(0, 1, 2),
    "top.mjs": "console.log('not a script')",
  });
}

const listSkills = async (of: TestService, sessionId: string) =>
  (await of.read<{ data: ListedSkill[] }>(`/api/sessions/${sessionId}/skills`)).data;
const read = (path?: string) =>
  step("read_skill", { name: "house-style", ...(path !== undefined && { path }) });
const run = (args: string[] = [], script = "scripts/echo.mjs") =>
  step("run_skill_script", { name: "house-style", script, args });
const instructionsOf = (of: TestService) =>
  JSON.stringify(of.model.requests.findLast(({ kind }) => kind === "turn")?.body);

/** Creates sessions until one has the skill version with this description. @returns the id of that session. */
async function waitUntilListed(description: string): Promise<string> {
  let sessionId = "";
  await waitUntil(async () => {
    ({ sessionId } = (await playTurn(service, [])).session);
    return (await listSkills(service, sessionId)).some((skill) => skill.description === description);
  }, `a new session has "${description}"`);
  return sessionId;
}

describe("skills of a session", () => {
  it("are named in the instructions and listed, and the agent can read them and run their scripts", async () => {
    const { session, results } = await playTurn(service, [
      read(),
      read("references/words.md"),
      run(["$(id)", "-e", "a b"]),
      step("run_skill_script", { name: "copy-review", script: "./scripts/copy-check.mjs", args: ["--help"] }),
    ]);
    const [text = "", file = "", output = "", help = ""] = results;
    assert.match(text, /^Follow version one\.\s+Files \(bytes\):\n/);
    for (const line of ["assets/logo.bin  3", "references/words.md  12", "scripts/echo.mjs", "top.mjs"])
      assert.ok(text.includes(line), text);
    assert.equal(file, "words of one");
    assert.match(output, /^one \["\$\(id\)","-e","a b"\]\n\[exit code 0, \d+ ms\]$/);
    assert.match(help, /Usage: copy-check\.mjs[\s\S]*\[exit code 0/);
    assert.match(instructionsOf(service), /- house-style: House style, one\./);

    const skills = await listSkills(service, session.sessionId);
    assert.deepEqual(
      skills.map(({ name, source }) => [name, source]),
      [
        ["accessibility-audit", "built_in"],
        ["copy-review", "built_in"],
        ["form-audit", "built_in"],
        ["house-style", "deployment"],
      ],
    );
    assert.equal(skills[3]?.files, 5);
    assert.equal(skills[3]?.description, "House style, one.");
  });

  it("are listed in the error for an unknown skill, file or script", async () => {
    const { results } = await playTurn(service, [
      step("read_skill", { name: "constructor" }),
      read("../house-style/SKILL.md"),
      read("/etc/passwd"),
      read("references/words.md\0"),
      read("assets/logo.bin"),
      step("run_skill_script", { name: "__proto__", script: "scripts/echo.mjs" }),
      run([], "top.mjs"),
      run([], "scripts/../top.mjs"),
      run([], "/workspace/scripts/echo.mjs"),
      run([], "scripts"),
      run(["a\0b"]),
    ]);
    const [unknown = "", up = "", absolute = "", nul = "", binary = "", proto = "", ...scripts] = results;
    assert.match(unknown, /there is no skill "constructor"\. Skills of this session: .*house-style/);
    for (const result of [up, absolute, nul])
      assert.match(result, /has no file .*[\s\S]*references\/words\.md/);
    assert.match(binary, /assets\/logo\.bin is not text \(3 bytes\)/);
    assert.match(proto, /there is no skill "__proto__"/);
    const withNul = scripts.pop();
    assert.equal(scripts.length, 4);
    for (const result of scripts) assert.match(result, /has no script .*[\s\S]*scripts\/echo\.mjs {2}\d+/);
    assert.match(withNul ?? "", /must not contain NUL/);
  });

  it("run their stored files, not files of the workspace", async () => {
    const evil = "console.log('EVIL')";
    const write = (path: string) => step("write_file", { path, content: evil });
    const { results } = await playTurn(service, [
      write("scripts/echo.mjs"),
      write("house-style/scripts/echo.mjs"),
      write("node_modules/fs/index.js"),
      step("write_file", { path: "package.json", content: '{"type":"commonjs"}' }),
      run(["--require", "./scripts/echo.mjs"]),
    ]);
    assert.match(results.at(-1) ?? "", /^one \["--require","\.\/scripts\/echo\.mjs"\]\n\[exit code 0/);
  });
});

describe("skill versions", () => {
  it("stay the same in a session when a newer one appears, also after a restart", async () => {
    const first = (await playTurn(service, [])).session;
    await writeOwn("two");
    const second = await waitUntilListed("House style, two.");
    const expectBoth = async (of: TestService) => {
      for (const [sessionId, version] of [
        [first.sessionId, "one"],
        [second, "two"],
      ] as const) {
        const [text = "", output = ""] = await playFollowUp(of, sessionId, [read(), run()]);
        assert.match(text, new RegExp(`^Follow version ${version}\\.`));
        assert.match(output, new RegExp(`^${version} \\[\\]`));
        assert.match(instructionsOf(of), new RegExp(`House style, ${version}\\.`));
        const [listed] = (await listSkills(of, sessionId)).filter(({ name }) => name === "house-style");
        assert.equal(listed?.description, `House style, ${version}.`);
      }
    };
    await expectBoth(service);

    await service.close({ keepFiles: true });
    await rm(join(skillsDir, "house-style"), { recursive: true });
    service = await open({}, service.dataDir);
    await expectBoth(service);
    const { session } = await playTurn(service, []);
    assert.equal((await listSkills(service, session.sessionId)).length, 3);
    await writeOwn("one");
  });

  it("of other sessions stay when a session is deleted", async () => {
    const { session } = await playTurn(service, []);
    const [skill] = await listSkills(service, session.sessionId);
    const other = (await playTurn(service, [])).session;
    assert.equal((await service.call("DELETE", `/api/sessions/${session.sessionId}`)).status, 200);
    assert.equal((await service.call("GET", `/api/sessions/${session.sessionId}/skills`)).status, 404);
    assert.deepEqual((await listSkills(service, other.sessionId))[0], skill);
  });

  it("of sub-agents are those of their root", async () => {
    const objective = `objective ${crypto.randomUUID()}`;
    const { session } = await playTurn(
      service,
      [step("spawn_agents", { agents: [{ objective, browser: "none" }] }), step("wait_for_agents", {})],
      { subAgents: true },
    );
    const { agents } = await service.read<{ agents: { agentId: string }[] }>(
      `/api/sessions/${session.sessionId}/agents`,
    );
    const childId = agents[0]?.agentId ?? "";
    assert.deepEqual(await listSkills(service, childId), await listSkills(service, session.sessionId));
    const request = service.model.requests.findLast(({ userText }) => userText.includes(objective));
    const offered = readOfferedTools(request);
    for (const name of SKILL_TOOLS) assert.ok(offered.includes(name), name);
  });
});

describe("the skill tools", () => {
  const outputSchema = { type: "object", properties: { title: { type: "string" } } };
  const offer = async (profile: Record<string, unknown>, of = service) => {
    const { session } = await playTurn(of, [], profile);
    const offered = readOffered(of);
    const names = SKILL_TOOLS.filter((name) => offered.includes(name));
    const hasSkills = (await listSkills(of, session.sessionId)).length > 0;
    assert.equal(/## Skills/.test(instructionsOf(of)), hasSkills);
    assert.equal(names.length > 0, hasSkills);
    return names;
  };

  it("do not depend on the tool policy: neither the analysis profile nor exclude removes them", async () => {
    for (const profile of [
      {},
      { outputSchema },
      { tools: { exclude: ["*"] } },
      { tools: { exclude: SKILL_TOOLS } },
      { tools: { externalTurnExclude: ["*", ...SKILL_TOOLS] } },
      { outputSchema, tools: { exclude: SKILL_TOOLS, externalTurnExclude: SKILL_TOOLS } },
      { capabilities: { browser: false } },
    ])
      assert.deepEqual(await offer(profile), SKILL_TOOLS);
  });

  it("are not in a session without a sandbox, also if included", async () => {
    assert.deepEqual(await offer({ capabilities: { sandbox: false } }), []);
    const tools = { include: SKILL_TOOLS };
    assert.deepEqual(await offer({ capabilities: { sandbox: false }, tools }), []);
    assert.deepEqual(await offer({ outputSchema, capabilities: { sandbox: false }, tools }), []);
  });

  it("run scripts also without run_shell", async () => {
    await waitUntilListed("House style, one.");
    const { results } = await playTurn(service, [step("run_shell", { command: "id" }), run()], {
      tools: { exclude: ["run_shell"] },
    });
    assert.doesNotMatch(results[0] ?? "", /uid=/);
    assert.match(results[1] ?? "", /^one /);
  });

  it("do not exist in a deployment without a sandbox", async () => {
    const bare = await open({ SANDBOX: "none" });
    try {
      assert.deepEqual(await offer({}, bare), []);
    } finally {
      await bare.close();
    }
  });
});

it("a service starts also if every skill in SKILLS_DIR is invalid", async () => {
  const folder = await mkdtemp(join(tmpdir(), "skills-bad-"));
  await mkdir(join(folder, "bad"));
  await writeFile(join(folder, "bad/SKILL.md"), "---\nname: [");
  const bad = await open({ SKILLS_DIR: folder });
  try {
    const { session } = await playTurn(bad, []);
    assert.equal((await listSkills(bad, session.sessionId)).length, 3);
  } finally {
    await bad.close();
    await rm(folder, { recursive: true });
  }
});
