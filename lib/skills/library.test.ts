import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { createSkillCatalogue } from "./catalogue/skill-catalogue.ts";
import { SHOP_FORM, SHOP_GOOD, SHOP_HOME } from "./library-pages-testing.ts";

const folder = await mkdtemp(join(tmpdir(), "library-"));
after(() => rm(folder, { recursive: true, force: true }));

/** The folder of the skills as the sandbox gets them, with the files that they share. */
const LIBRARY = join(folder, "library");
const warnings: unknown[] = [];
const catalogue = await createSkillCatalogue({ logger: { warn: (about) => warnings.push(about) } });
const skills = await catalogue.current();
for (const { name, files } of skills)
  for (const { path, bytes } of files) {
    await mkdir(dirname(join(LIBRARY, name, path)), { recursive: true });
    await writeFile(join(LIBRARY, name, path), bytes);
  }

type Place = { message: string; selector?: string; excerpt?: string };
type Report = {
  outline?: string[];
  landmarks?: string[];
  forms?: { form: string; fields: Record<string, unknown>[] }[];
  pages?: Record<string, unknown>[];
  texts?: number;
  findings: { severity: string; rule: string; count: number; places: Place[] }[];
};

/** Runs a script of the library as the sandbox does: with an argument array, in the folder of the files to check. */
function run(skill: string, script: string, args: string[]) {
  return new Promise<{ code: number; stdout: string; stderr: string; report: Report }>((resolve) => {
    const path = join(LIBRARY, skill, "scripts", script);
    execFile(
      process.execPath,
      [path, ...args],
      { cwd: folder, env: { NODE_ENV: "test" }, timeout: 60_000, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = typeof error?.code === "number" ? error.code : error ? -1 : 0;
        const report = stdout.startsWith("{") ? (JSON.parse(stdout) as Report) : { findings: [] };
        resolve({ code, stdout, stderr, report });
      },
    );
  });
}

async function check(skill: string, script: string, pages: Record<string, string>, args: string[] = []) {
  for (const [name, text] of Object.entries(pages)) await writeFile(join(folder, name), text);
  const result = await run(skill, script, [...args, ...Object.keys(pages)]);
  const group = (rule: string) => result.report.findings.find((each) => each.rule === rule);
  const messages = (rule: string) =>
    group(rule)
      ?.places.map(({ message }) => message)
      .join("\n") ?? "";
  return { ...result, group, messages, rules: result.report.findings.map(({ rule }) => rule) };
}

const SCRIPTS = [
  ["accessibility-audit", "structure.mjs"],
  ["accessibility-audit", "contrast.mjs"],
  ["copy-review", "copy-check.mjs"],
  ["form-audit", "form-check.mjs"],
] as const;

describe("the project's own skills", () => {
  for (const [skill, script] of SCRIPTS)
    it(`${skill}/${script} explains itself, and refuses wrong use with exit code 2`, async () => {
      const help = await run(skill, script, ["--help"]);
      assert.equal(help.code, 0);
      assert.match(help.stdout, new RegExp(`^Usage: ${script}[\\s\\S]*Exit code: 0`));
      const nothing = await run(skill, script, []);
      assert.equal(nothing.code, 2);
      assert.match(nothing.stderr, /^Usage: /);
      const unknown = await run(skill, script, ["--unknown", "page.html"]);
      assert.equal(unknown.code, 2);
      assert.match(unknown.stderr, /^Unknown option '--unknown'[\s\S]*\n\nUsage: /);
      const missing = await run(skill, script, ["missing.html"]);
      assert.equal(missing.code, 2);
      assert.match(missing.stderr, /^missing\.html cannot be read: ENOENT/);
    });

  it("are valid, and each has the files that they share", () => {
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      skills.map(({ name }) => name),
      ["accessibility-audit", "copy-review", "form-audit"],
    );
    for (const { name, files } of skills) {
      const paths = files.map(({ path }) => path);
      assert.deepEqual(paths, paths.toSorted(), name);
      for (const path of ["scripts/lib/command.mjs", "scripts/lib/html.mjs"])
        assert.ok(paths.includes(path), `${name}: ${path}`);
    }
  });

  for (const { name: skill } of skills)
    it(`${skill} ships every file that its text names`, () => {
      const text = readFileSync(join(LIBRARY, skill, "SKILL.md"), "utf8");
      const namedPaths = [...text.matchAll(/\b(?:scripts|references)\/[\w.-]+/g)].map(([path]) => path);
      assert.ok(namedPaths.length > 1);
      for (const path of namedPaths) assert.ok(existsSync(join(LIBRARY, skill, path)), path);
    });

  it("read hostile markup without failing", async () => {
    const pages = {
      "deep.html": `<html lang="en"><title>x</title>${"<div>".repeat(50_000)}text`,
      "torn.html": `<p class="a><b<<!-- <a href='x' ${"<".repeat(5_000)}</p></div></html><title>never closed`,
      "proto.html":
        '<form><input name="__proto__" id="constructor"><label for="constructor">&#x110000;&#0;&bogus;</label>',
      "empty.html": "",
    };
    for (const [skill, script] of SCRIPTS)
      for (const [name, text] of Object.entries(pages)) {
        if (script === "contrast.mjs") continue;
        const { code, stderr } = await check(skill, script, { [name]: text });
        assert.ok(code === 0 || code === 1, `${script} ${name}: ${stderr}`);
        // Exit code 1 alone does not prove that the script reported findings, because Node also exits with 1 after an
        // exception.
        assert.equal(stderr, "", `${script} ${name}`);
      }
  });

  it("read pages with very many equal elements within the deadline of the tool", async () => {
    const page = (body: string) =>
      `<html lang="en"><title>T</title><main><h1>A</h1><p>Text</p>${body}</main></html>`;
    const [structure, , copy, form] = SCRIPTS;
    const pages = [
      [structure, page('<a href="/x"></a>'.repeat(60_000))],
      [copy, page(`${'<i id="f"></i>'.repeat(60_000)}<input id="f">`)],
      [copy, page(`${'<label for="f">A</label>'.repeat(60_000)}<input id="f">`)],
      [structure, page("<nav>a</nav>".repeat(60_000))],
      [form, page('<form><input name="a"></form>'.repeat(60_000))],
      [form, page(`<form>${'<input type="radio" name="a">'.repeat(60_000)}</form>`)],
      [copy, page(`<p>${"<b>a</b> ".repeat(150_000)}</p>`)],
      [structure, page("<a".repeat(60_000))],
      [structure, page(`<a b="'`.repeat(60_000))],
      [copy, page(`<p>${"no. ".repeat(60_000)}</p><p>${"{{".repeat(60_000)}</p><p>${"aé".repeat(60_000)}`)],
    ] as const;
    for (const [index, [[skill, script], text]] of pages.entries()) {
      const { code, stderr } = await check(skill, script, { "large.html": text });
      assert.deepEqual([stderr, code === 0 || code === 1], ["", true], `page ${index}`);
    }
  });
});

describe("accessibility-audit", () => {
  it("reports the structural errors of a page with their places", async () => {
    const { code, report, rules, messages, group } = await check("accessibility-audit", "structure.mjs", {
      "home.html": SHOP_HOME,
    });
    assert.equal(code, 1);
    assert.deepEqual(report.outline, ["h1 Fresh bread", "      h4 Today", "  h2 (empty)", "h1 Contact us"]);
    assert.deepEqual(report.landmarks, ["banner", "navigation", "navigation", "contentinfo"]);
    for (const rule of [
      "language",
      "zoom",
      "h1",
      "skipped-level",
      "empty-heading",
      "main",
      "landmark-name",
      "skip-link",
      "picture-name",
      "link-name",
      "vague-link",
      "button-name",
      "frame-name",
      "field-name",
      "click-role",
      "duplicate-id-used",
      "broken-reference",
      "table-headers",
      "tab-order",
      "nested-control",
    ])
      assert.ok(rules.includes(rule), `${rule} is missing in ${rules.join(", ")}`);
    assert.match(messages("picture-name"), /no alt: \/img\/hero\.jpg/);
    assert.equal(group("picture-name")?.count, 2);
    assert.equal(group("button-name")?.places[0]?.selector, "#menu");
    assert.ok(!messages("picture-name").includes("decoration"));
    assert.equal(
      rules.findIndex((rule) => group(rule)?.severity === "warn"),
      rules.filter((rule) => group(rule)?.severity === "fail").length,
    );
  });

  it("reports nothing for a good page", async () => {
    const { code, report } = await check("accessibility-audit", "structure.mjs", { "good.html": SHOP_GOOD });
    assert.deepEqual([code, report.findings], [0, []]);
  });

  const pair = async (text: string, background: string, ...args: string[]) => {
    const { code, stdout } = await run("accessibility-audit", "contrast.mjs", [
      "--text",
      text,
      "--background",
      background,
      ...args,
    ]);
    return { code, ...(JSON.parse(stdout) as { ratio: number; needed: number; suggestion?: string }) };
  };

  it("computes ratios as WCAG does, and proposes a color that passes", async () => {
    assert.deepEqual([(await pair("#000", "#fff")).ratio, (await pair("#fff", "#ffffff")).ratio], [21, 1]);
    assert.deepEqual(await pair("#767676", "#ffffff").then(({ code, ratio }) => [code, ratio]), [0, 4.54]);
    const grey = await pair("#777777", "#ffffff");
    assert.deepEqual([grey.code, grey.ratio, grey.needed], [1, 4.47, 4.5]);
    assert.equal((await pair(grey.suggestion ?? "", "#ffffff")).code, 0);
    assert.equal((await pair("#777777", "#ffffff", "--size", "24")).needed, 3);
    assert.equal((await pair("#777777", "#ffffff", "--size", "19", "--bold")).needed, 3);
    assert.equal((await pair("#777777", "#ffffff", "--size", "18")).needed, 4.5);
    assert.equal(
      (await run("accessibility-audit", "contrast.mjs", ["--text", "red", "--background", "#fff"])).code,
      2,
    );
  });

  it("checks saved styles: opacity, layered backgrounds, pictures, and each color pair once", async () => {
    const sample = {
      selector: "#a",
      text: "Text",
      color: [0, 0, 0, 1],
      backgrounds: [[255, 255, 255, 1]],
      sizePx: 16,
      weight: 400,
      hasImage: false,
    };
    const samples = [
      sample,
      { ...sample, selector: "#pale", color: [0, 0, 0, 0.4] },
      { ...sample, selector: "#pale2", color: [0, 0, 0, 0.4] },
      {
        ...sample,
        selector: "#layers",
        color: [255, 255, 255, 1],
        backgrounds: [
          [0, 0, 0, 0.5],
          [255, 255, 255, 1],
        ],
      },
      { ...sample, selector: "#none", color: [255, 255, 255, 1], backgrounds: [] },
      { ...sample, selector: "#hero", hasImage: true },
    ];
    const text = JSON.stringify({ url: "https://shop.example/", samples });
    const { code, report, group } = await check("accessibility-audit", "contrast.mjs", {
      "styles.json": text,
    });
    assert.deepEqual([code, report.texts], [1, 6]);
    assert.deepEqual(
      group("contrast")?.places.map(({ selector }) => selector),
      ["#pale", "#layers", "#none"],
    );
    assert.match(
      group("contrast")?.places[0]?.message ?? "",
      /^#999999 on #ffffff is 2\.84:1, needed 4\.5:1 at 16 px; #\w{6} passes\.$/,
    );
    assert.equal(group("over-picture")?.count, 1);
    for (const bad of [
      [],
      { samples: [null] },
      { samples: [sample, { ...sample, color: ["0", 0, 0, 1] }] },
      { samples: [{ ...sample, backgrounds: undefined }] },
    ]) {
      assert.equal(
        (await check("accessibility-audit", "contrast.mjs", { "bad.json": JSON.stringify(bad) })).code,
        2,
      );
    }
    const colors = ["--text", "#000", "--background", "#fff"];
    assert.equal((await run("accessibility-audit", "contrast.mjs", [...colors, "--size", "large"])).code, 2);
  });
});

describe("form-audit", () => {
  it("reports what makes people fail in a checkout", async () => {
    const { code, report, messages, rules } = await check("form-audit", "form-check.mjs", {
      "form.html": SHOP_FORM,
    });
    assert.equal(code, 1);
    const [form] = report.forms ?? [];
    assert.equal(form?.form, "#checkout");
    assert.deepEqual(
      form?.fields.map(({ label, type }) => `${label} ${type}`),
      [
        "null text",
        "Phone * text",
        "Card number number",
        "Postcode text",
        "First name text",
        "Standard radio",
        "Express radio",
        "Coupon text",
        "Password password",
        "Notes (optional) textarea",
      ],
    );
    assert.match(messages("placeholder-as-label"), /"Your e-mail"/);
    assert.match(messages("autocomplete-missing"), /use "email"/);
    assert.match(messages("autocomplete-missing"), /use "postal-code"/);
    assert.match(messages("autocomplete-token"), /"firstname" is not a value .*use "given-name"/);
    assert.match(messages("autocomplete-off"), /use "current-password"/);
    assert.match(messages("input-type"), /type="email"/);
    assert.match(messages("input-type"), /a card number: digits are not an amount/);
    assert.match(messages("group-name"), /2 options of "delivery"/);
    assert.match(messages("required-mark"), /marked with \*/);
    assert.match(messages("required-mark"), /says optional, but the field is required/);
    assert.match(messages("error-association"), /"Please enter a postcode such as AB1 2CD" is neither tied/);
    assert.match(messages("error-text"), /"Invalid input" does not say what to do/);
    assert.match(messages("paste"), /Pasting is blocked/);
    assert.match(messages("submit"), /"Submit" does not say what happens/);
    assert.match(messages("broken-reference"), /aria-describedby="gone"/);
    assert.ok(rules.includes("no-name") && rules.includes("disabled-submit"), rules.join(", "));
  });

  it("reports nothing for a good form with any kind of label", async () => {
    const { code, report } = await check("form-audit", "form-check.mjs", { "good.html": SHOP_GOOD });
    assert.deepEqual([code, report.findings], [0, []]);
    assert.equal(report.forms?.[0]?.fields.length, 7);
  });
});

describe("copy-review", () => {
  it("measures pages, and reports placeholders, long sentences, repeated sentences and mixed terms", async () => {
    const { code, report, messages, group } = await check("copy-review", "copy-check.mjs", {
      "home.html": SHOP_HOME,
      "form.html": SHOP_FORM,
    });
    assert.equal(code, 1);
    const [home] = report.pages ?? [];
    assert.equal(home?.page, "home.html");
    assert.ok((home?.words as number) > 50, JSON.stringify(home));
    assert.equal(typeof home?.readingEase, "number");
    assert.match(messages("placeholder"), /Lorem ipsum[\s\S]*\{\{customer\.name\}\}/);
    assert.match(messages("doubled-word"), /"the the"/);
    assert.match(messages("terms"), /"basket" \d×/);
    assert.match(messages("terms"), /"cart" \d×/);
    assert.match(messages("vague-control"), /"Click here"/);
    assert.match(messages("long-sentence"), /home\.html: 3\d words/);
    assert.match(messages("repeated"), /2 times: home\.html, form\.html/);
    assert.match(messages("shouting"), /written in capitals/);
    assert.ok(!JSON.stringify(report).includes("tracking code"), "text of scripts is no copy");
    assert.ok((group("long-sentence")?.places[0]?.selector ?? "").length > 0);
  });

  it("accepts a glossary and plain text", async () => {
    await writeFile(join(folder, "terms.json"), '[["basket", "cart"]]');
    const pages = { "a.txt": "Your cart is empty.\n\nAdd bread to your cart, e.g. a loaf." };
    const { code, messages, report } = await check("copy-review", "copy-check.mjs", pages, [
      "--glossary",
      "terms.json",
    ]);
    assert.equal(code, 1);
    assert.match(messages("terms"), /"cart" 2×/);
    assert.deepEqual(report.pages?.[0]?.sentences, 2);
    await writeFile(join(folder, "terms.json"), "{}");
    assert.equal((await check("copy-review", "copy-check.mjs", pages, ["--glossary", "terms.json"])).code, 2);
  });

  it("reports nothing for well-written copy", async () => {
    const { code, report } = await check("copy-review", "copy-check.mjs", { "good.html": SHOP_GOOD });
    assert.deepEqual([code, report.findings], [0, []]);
  });
});
