import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { readBlocks } from "#e2e/fixtures/read-blocks.ts";
import type { VariantDocument } from "#lib/variant/document.ts";
import { listRequirements, readPlan } from "../planning/planning-testing.ts";
import { TEST_KEY, waitUntil } from "../testing.ts";
import { type DemoService, openDemoService, TURN_MS_MAX, UNCHECKED } from "./demo-testing.ts";

let demo: DemoService;
before(async () => {
  demo = await openDemoService();
});
after(() => demo.close());
const start: DemoService["start"] = (task, more) => demo.start(task, more);
const say: DemoService["say"] = (sessionId, text) => demo.say(sessionId, text);

async function readChanges(sessionId: string, revision: number) {
  const path = `/api/sessions/${sessionId}/variants/main/revisions/${revision}`;
  const read = await demo.service.read<{ revision: { document: VariantDocument } }>(path);
  return read.revision.document.pages.flatMap(({ changes }) => changes);
}

describe("the demo model in an editing session", () => {
  it("changes the page, checks it, and undoes the change", async () => {
    const { sessionId, completed, answer, tools } = await start(
      "Make the headline say 'Winter sale' and hide the banner.",
    );
    const hasCheck = demo.service.container.services.tools.some(({ name }) => name === "check_variant");
    assert.equal(completed.outcome, "succeeded");
    assert.deepEqual(
      completed.variants?.map(({ key, revision }) => ({ key, revision })),
      [{ key: "main", revision: 1 }],
    );
    assert.equal(tools.includes("check_variant"), hasCheck);
    const status = completed.variants?.[0]?.check?.status;
    assert.equal(status !== undefined, hasCheck);
    assert.match(answer, /^Stored revision 1 of variant main\. The live page shows it\./);
    assert.match(answer, /- Text of `h1`: “Things for a quiet desk” → “Winter sale”\n/);
    assert.match(answer, /- Removed `[^`]+`: “A made-up shop for trying things out/);
    const proof = hasCheck ? `Check of revision 1: **${status}**.` : "Revision 1 is not checked: ";
    assert.ok(answer.includes(`\n${proof}`), answer);
    assert.deepEqual(
      (await readChanges(sessionId, 1)).map(({ op }) => op),
      ["setText", "remove"],
    );
    // To answer this question, the model reads the live page, which shows the variant.
    const reply = await say(sessionId, "which headings does this page have?");
    assert.match(reply.answer, /\n- Winter sale\n/);
    assert.equal(reply.completed.variants?.[0]?.revision, 1);

    const undone = await say(sessionId, "Undo that, please.");
    assert.equal(undone.completed.variants?.[0]?.revision, 2);
    assert.match(undone.answer, /^Stored revision 2 of variant main\./);
    assert.match(undone.answer, /\n- Took back `c1` \(setText of `h1`\), `c2` \(remove of `[^`]+`\)\n/);
    assert.match(undone.answer, /\nThe variant has no changes left, so there is nothing to check\.\n/);
    assert.ok(!undone.tools.includes("check_variant"));
    assert.deepEqual(await readChanges(sessionId, 2), []);
    assert.match((await say(sessionId, "which headings now?")).answer, /\n- Things for a quiet desk\n/);
  });

  it("follows the link to the page that the task names, and changes no other page", async () => {
    const { sessionId, answer } = await start(
      "On the checkout page, rename the button 'Place order' to 'Pay now', make it green and add a note 'Free returns' below the headline",
      UNCHECKED,
    );
    assert.match(answer, /“Place order” → “Pay now”/);
    assert.match(answer, /: `background: green; color: #fff`/);
    const changes = await readChanges(sessionId, 1);
    assert.deepEqual(
      changes.map(({ op }) => op),
      ["setText", "setStyle", "insert"],
    );
    const next = await say(sessionId, "on the gift cards page, hide the footer");
    assert.match(
      next.answer,
      /^I found no link to “gift cards” on the page that is open, so I changed nothing\./,
    );
    assert.equal(next.completed.variants?.[0]?.revision, 1);
  });

  it("reports what it did not find, and stores the rest", async () => {
    const { answer, completed } = await start(
      "remove the newsletter box and make the buttons red; sing a song",
      UNCHECKED,
    );
    assert.match(answer, /^Stored revision 1 of variant main\./);
    assert.match(answer, /\n- Not done: “remove the newsletter box”\. I found no visible element/);
    assert.match(answer, /\nI did not do: “sing a song”\.\n/);
    assert.equal(completed.variants?.[0]?.revision, 1);
  });

  it("names the missing tool in a session that may not edit", async () => {
    const { answer, completed } = await start("hide the banner", { tools: { exclude: ["apply_variant"] } });
    assert.match(answer, /^I cannot change the page: this turn does not offer `apply_variant`\./);
    assert.deepEqual(completed.variants, []);
  });

  it("only reads the page in a structured session", async () => {
    const outputSchema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
    const { completed, answer } = await start("change the headline to 'Winter sale'", { outputSchema });
    assert.equal(completed.deliverable?.status, "ready");
    assert.equal(completed.variants, undefined);
    assert.match(answer, /\n- Things for a quiet desk\n/);
  });
});

describe("the documented commands for editing", () => {
  it("start a session, read its variant, test a requirement, and make a plan", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "readme-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const [edit = ""] = readBlocks("README.md", "## Edit a page", "sh");
    const [require = "", planFirst = ""] = readBlocks(
      "lib/docs/using/editing.md",
      "## Requirements, and plan first",
      "sh",
    );
    const [, follow = ""] = readBlocks("README.md", "## One session, from a terminal", "sh").slice(2);
    const [defineField = ""] = /^field\(\).*$/m.exec(follow) ?? [];
    const [defineApi = ""] = /^API=.*$/m.exec(edit) ?? [];
    const env = { ...process.env, BASE: demo.service.baseUrl, KEY: TEST_KEY };
    const run = async (...lines: string[]) => {
      const program = [defineField, ...lines].join("\n");
      const { stdout } = await promisify(execFile)("sh", ["-euc", program], {
        cwd: folder,
        env,
        timeout: TURN_MS_MAX,
      });
      return stdout;
    };
    const shop = (commands: string) =>
      commands
        .replace("http://127.0.0.1:3000/demo/index.html", demo.targetUrl)
        .replace("http://127.0.0.1:3000/demo", demo.targetUrl);

    const edited = await run(shop(edit));
    assert.match(edited, /"kind":"run\.completed".*"variants":\[\{"key":"main","revision":1,/);
    assert.match(edited, /\n\{"success":true,"data":\[\{"key":"main","revision":1,/);
    assert.match(edited, /"changes":\[\{"id":"c1","selector":"h1",.*"op":"setText","text":"Winter sale"\}/);
    const sessionId = /"sessionId":"(ses_[a-z2-7]+)"/.exec(edited)?.[1] ?? "";

    await run(defineApi, shop(require));
    await waitUntil(
      async () => (await listRequirements(demo.service, sessionId))[0]?.outcome?.status === "pass",
      "the check has tested the requirement",
      TURN_MS_MAX,
    );
    const planned = await run(defineApi, planFirst);
    assert.match(planned, /"mode":"plan_first"/);
    assert.match(planned, new RegExp(`\\n?${demo.service.baseUrl}/s/${sessionId}\\?key=\\S+\\n$`));
    await waitUntil(
      async () => (await readPlan(demo.service, sessionId)).items[0]?.text === "Make the buttons green",
      "the plan is written",
      TURN_MS_MAX,
    );
  });
});
