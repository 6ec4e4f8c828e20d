import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeInstructions, type InstructionParts } from "./instructions.ts";

const parts: InstructionParts = {
  hasBrowser: true,
  hasWorkspace: true,
  toolNames: ["read_file"],
  skills: [],
  systemPrompt: null,
  outputSchema: null,
};

describe("the instructions of a turn", () => {
  it("end with the caller's own, under ## Session Instructions, after the whole base prompt", () => {
    const base = composeInstructions(parts);
    const composed = composeInstructions({ ...parts, systemPrompt: "Answer in French." });
    assert.equal(composed, `${base}\n\n## Session Instructions\n\nAnswer in French.`);
    assert.ok(!base.includes("## Session Instructions"));
  });

  it("mention pictures to editors with a browser", () => {
    const blind = composeInstructions({ ...parts, toolNames: ["apply_variant"] });
    const seeing = composeInstructions({ ...parts, toolNames: ["apply_variant", "dom_query"] });
    assert.deepEqual([/look at the picture/.test(blind), /look at the picture/.test(seeing)], [false, true]);
  });

  it("advise on plan and requirements in a session that has the tools", () => {
    assert.doesNotMatch(composeInstructions(parts), /plan|requirement/);
    const composed = composeInstructions({ ...parts, toolNames: ["update_plan", "add_requirements"] });
    assert.match(composed, /with update_plan[\s\S]*with add_requirements/);
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

  it("say if there are no tools", () => {
    assert.match(composeInstructions({ ...parts, toolNames: [] }), /You have no tools/);
  });
});
