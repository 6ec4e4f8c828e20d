import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeInstructions, type InstructionParts } from "./instructions.ts";

const parts: InstructionParts = {
  hasBrowser: true,
  hasWorkspace: true,
  toolNames: ["read_file"],
  missingServers: [],
  selectedUrl: null,
  targetPageUrls: [],
  currentUrl: null,
  variants: [],
  planning: { plan: null, unmet: [] },
  imports: [],
  skills: [],
  demoUrl: "http://localhost/demo",
  systemPrompt: null,
  outputSchema: null,
  isPersonPresent: true,
};

describe("the instructions of a turn", () => {
  it("end with the caller's own, under ## Session Instructions, after the whole base prompt", () => {
    const base = composeInstructions(parts);
    const composed = composeInstructions({ ...parts, systemPrompt: "Answer in French." });
    assert.equal(composed, `${base}\n\n## Session Instructions\n\nAnswer in French.`);
    assert.ok(!base.includes("## Session Instructions"));
  });

  it("name imported conversations if the session can read them", () => {
    const imports = [{ importId: "imp_a", messageCount: 4 }];
    const composed = composeInstructions({ ...parts, imports, toolNames: ["read_message"] });
    assert.match(composed, /imported: read_message reads its messages, imp_a\/1 to imp_a\/4/);
    assert.equal(composeInstructions({ ...parts, imports }), composeInstructions(parts));
  });

  it("mention pictures to editors with a browser, and reading a variant if there is one", () => {
    const state = { revision: 2, check: null, publication: null, isShown: true, edits: null };
    const main = { key: "main", ...state };
    const blind = composeInstructions({ ...parts, toolNames: ["apply_variant"] });
    const seeing = composeInstructions({
      ...parts,
      toolNames: ["apply_variant", "dom_query"],
      variants: [main],
    });
    assert.deepEqual([/look at the picture/.test(blind), /look at the picture/.test(seeing)], [false, true]);
    assert.doesNotMatch(blind, /baseRevision alone/);
    assert.match(
      seeing,
      /Variant main has revision 2, not checked\.\n- apply_variant with baseRevision alone/,
    );
  });

  it("say what people have changed since the agent's newest revision, as cut data, and which variant is shown", () => {
    const state = { check: null, publication: null, isShown: false, edits: null };
    const lines = Array.from({ length: 50 }, (_, index) => `dropped c${index}\n${"x".repeat(500)}`);
    const compose = (isShown: boolean) =>
      composeInstructions({
        ...parts,
        toolNames: ["apply_variant"],
        variants: [
          { ...state, key: "main", revision: 5, edits: { since: 3, lines } },
          { ...state, key: "b", revision: 1, isShown },
        ],
      });
    const composed = compose(true);
    assert.match(
      composed,
      /Variant main has revision 5, not checked\. A person has changed it since your revision 3\.[^\n]*\n[^\n]*data from the variant[^\n]*\n<(data-\w+)>\ndropped c0 x+…\n[\s\S]*\ndropped c19 x+…\nand 30 more\n<\/\1>\n- Variant b has revision 1, not checked\.\n- The live browser shows variant b\./,
    );
    assert.ok(composed.length < 12_000, `${composed.length} characters go with every model call`);
    assert.match(compose(false), /- The live browser shows the page without a variant/);
  });

  it("name the current page and every target once", () => {
    const composed = composeInstructions({
      ...parts,
      currentUrl: "https://shop.example/now",
      selectedUrl: "https://shop.example/a",
      targetPageUrls: ["https://shop.example/a", "https://shop.example/b"],
    });
    assert.match(composed, /\n<(data-\w+)>\nCurrent page: https:\/\/shop\.example\/now\n<\/\1>\n/);
    assert.equal(composed.split("https://shop.example/a").length, 2);
    assert.match(composed, /Further page: https:\/\/shop\.example\/b/);
  });

  it("name as many further pages as fit into 8,000 characters, the newest first, and count the others", () => {
    const pagesOf = (urls: string[]) => {
      const selectedUrl = "https://shop.example/selected";
      const composed = composeInstructions({ ...parts, selectedUrl, targetPageUrls: urls });
      assert.match(composed, /^Target page: https:\/\/shop\.example\/selected\nFurther page: /m);
      const listed = composed.split("\n").filter((line) => line.startsWith("Further page: "));
      const [, left] = /^Further pages that are not listed here: (\d+)$/m.exec(composed) ?? [];
      return { listed: listed.map((line) => line.slice("Further page: ".length)), left: Number(left ?? 0) };
    };
    const few = Array.from({ length: 60 }, (_, index) => `https://shop.example/${index}`);
    assert.deepEqual(pagesOf([...few, few[3] ?? ""]).listed.toSorted(), few.toSorted());
    assert.deepEqual(pagesOf(few), { listed: few.toReversed(), left: 0 });

    const many = Array.from(
      { length: 1_000 },
      (_, index) => `https://shop.example/${index}/${"x".repeat(50)}`,
    );
    const { listed, left } = pagesOf(many);
    assert.deepEqual(listed, many.toReversed().slice(0, listed.length));
    assert.equal(listed.length + left, many.length);
    const characters = listed.map((url) => `Further page: ${url}\n`).join("").length;
    assert.ok(characters <= 8_000 && characters > 7_800, `${characters}`);

    const long = `https://shop.example/${"y".repeat(8_000)}`;
    assert.deepEqual(pagesOf(["https://shop.example/a", long]), {
      listed: ["https://shop.example/a"],
      left: 1,
    });
  });

  it("name each skill in one line, within bounds, if the session has the tools for skills", () => {
    const toolNames = ["read_skill", "run_skill_script"];
    const skills = [
      { name: "short", description: "What it does." },
      ...Array.from({ length: 31 }, (_, index) => ({
        name: `long-${index}`,
        description: "x".repeat(1_024),
      })),
    ];
    const composed = composeInstructions({ ...parts, toolNames, skills });
    assert.match(composed, /^## Skills$[\s\S]*^- short: What it does\.$/m);
    const lines = composed.split("\n").filter((line) => line.startsWith("- long-"));
    assert.equal(lines.length, 31);
    for (const line of lines) assert.ok(line.length < 320);
    assert.ok(lines.join("").length < 4_800);
    assert.equal(lines.at(-1), "- long-30");
    for (const none of [{ skills: [] }, { toolNames: ["read_file"], skills }])
      assert.doesNotMatch(composeInstructions({ ...parts, toolNames, ...none }), /## Skills/);
  });

  it("tell a structured session that its result is collected after the turn", () => {
    const words = /collected from you in a separate step after your turn.*do not paste JSON/;
    assert.match(composeInstructions({ ...parts, outputSchema: {} }), words);
    assert.doesNotMatch(composeInstructions(parts), words);
  });

  it("show the caller's schema with its descriptions, before the caller's own instructions", () => {
    const outputSchema = {
      type: "object",
      properties: { price: { type: "number", description: "in euro, with VAT" } },
    };
    const composed = composeInstructions({ ...parts, outputSchema, systemPrompt: "Answer in French." });
    const shown = /```json\n(.+?)\n```/s.exec(composed)?.[1] ?? "";
    assert.deepEqual(JSON.parse(shown), outputSchema);
    assert.ok(composed.indexOf("in euro, with VAT") < composed.indexOf("## Session Instructions"));
  });

  it("shorten a schema that is too long, and say so when it is cut", () => {
    const schemaOf = (length: number, fields: number) => ({
      properties: Object.fromEntries(
        Array.from({ length: fields }, (_, index) => [`field_${index}`, { description: "x".repeat(length) }]),
      ),
    });
    const shortened = composeInstructions({ ...parts, outputSchema: schemaOf(2_000, 20) });
    assert.match(shortened, /"field_19":\{"description":"x{119}…"/);
    assert.doesNotMatch(shortened, /The schema is cut/);
    const cut = composeInstructions({ ...parts, outputSchema: schemaOf(100, 1_000) });
    assert.match(cut, /The schema is cut: it has \d+ characters in all\./);
    assert.ok(cut.length < 16_000);
  });

  it("say if no person is there to answer, and if there are no tools", () => {
    assert.match(composeInstructions({ ...parts, isPersonPresent: false }), /do not ask questions/);
    assert.match(composeInstructions({ ...parts, toolNames: [] }), /You have no tools/);
  });
});
