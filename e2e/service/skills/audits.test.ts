import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { SHOP_FORM } from "#lib/skills/library-pages-testing.ts";
import type { TestService } from "../testing.ts";
import { openVariantsService, playTurn, script, step } from "../variants/variants-testing.ts";

// Follows the instructions of the project's own skills in a real browser, on a page without a content security policy
// and on a page with a content security policy.

const LIBRARY = join(import.meta.dirname, "../../../lib/skills/library");
const PAGE = SHOP_FORM.replace(
  "</head>",
  "<style>.error { color: #f99 } .row { background: linear-gradient(#fff, #eee) } p { color: oklch(0.75 0 0) }</style></head>",
);

let opened: Awaited<ReturnType<typeof openVariantsService>>;
let service: TestService;

before(async () => {
  opened = await openVariantsService((request, response) => {
    response.setHeader("content-type", "text/html");
    if (request.url === "/strict")
      response.setHeader("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'");
    response.end(PAGE);
  });
  ({ service } = opened);
});
after(() => opened.close());

/** Returns the script in a skill's instructions that saves a page. */
function savingScript(skill: string): string {
  const text = readFileSync(join(LIBRARY, skill, "SKILL.md"), "utf8");
  return /```js\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
}
const runScript = (name: string, file: string, args: string[]) =>
  step("run_skill_script", { name, script: `scripts/${file}`, args });

describe("the procedures of the project's own skills", () => {
  for (const path of ["/", "/strict"])
    it(`of accessibility-audit save a page (${path}), and check its structure and contrast`, async () => {
      const collector = readFileSync(
        join(LIBRARY, "accessibility-audit/references/collect-text-styles.js"),
        "utf8",
      );
      const { results } = await playTurn(
        service,
        [
          step("read_skill", { name: "accessibility-audit" }),
          step("read_skill", { name: "accessibility-audit", path: "references/collect-text-styles.js" }),
          script(savingScript("accessibility-audit")),
          runScript("accessibility-audit", "structure.mjs", ["downloads/page.html"]),
          script(collector),
          runScript("accessibility-audit", "contrast.mjs", ["downloads/styles.json"]),
        ],
        { targetUrl: `${opened.site.url}${path}`, tools: { exclude: ["run_shell"] } },
      );
      const [text = "", shipped = "", saved = "", structure = "", collected = "", contrast = ""] = results;
      assert.match(text, /^# Accessibility audit/);
      assert.equal(shipped, collector);
      assert.match(saved, /downloads\/page\.html/);
      assert.match(structure, /"h1 Checkout"[\s\S]*"rule": "broken-reference"[\s\S]*\[exit code 1/);
      assert.match(collected, /downloads\/styles\.json/);
      assert.match(contrast, /#aeaeae on #ffffff is 2\.21:1, needed 4\.5:1 at 16 px; #\w{6} passes/);
      assert.match(contrast, /"rule": "over-picture"/);
    });

  it("of form-audit and copy-review save and check the same page", async () => {
    const { results } = await playTurn(
      service,
      [
        script(savingScript("form-audit")),
        runScript("form-audit", "form-check.mjs", ["downloads/form.html"]),
        script(savingScript("copy-review")),
        runScript("copy-review", "copy-check.mjs", ["downloads/home.html", "downloads/form.html"]),
      ],
      { targetUrl: opened.site.url },
    );
    const [, forms = "", , copy = ""] = results;
    assert.match(forms, /"rule": "placeholder-as-label"[\s\S]*\[exit code 1/);
    assert.match(copy, /"page": "downloads\/home\.html"[\s\S]*"rule": "repeated"/);
  });
});
