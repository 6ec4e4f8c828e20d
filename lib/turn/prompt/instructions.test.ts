import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeInstructions, type InstructionParts } from "./instructions.ts";

const parts: InstructionParts = {
  toolNames: ["read_file"],
  missingServers: [],
  targetUrl: null,
  targetPageUrls: [],
  currentUrl: null,
  demoUrl: "http://localhost/demo",
  systemPrompt: null,
  isStructured: false,
  isPersonPresent: true,
};

describe("the instructions of a turn", () => {
  it("end with the caller's own, under ## Session Instructions, after the whole base prompt", () => {
    const base = composeInstructions(parts);
    const composed = composeInstructions({ ...parts, systemPrompt: "Answer in French." });
    assert.equal(composed, `${base}\n\n## Session Instructions\n\nAnswer in French.`);
    assert.ok(!base.includes("## Session Instructions"));
  });

  it("name the current page and every target once", () => {
    const composed = composeInstructions({
      ...parts,
      currentUrl: "https://shop.example/now",
      targetUrl: "https://shop.example/a",
      targetPageUrls: ["https://shop.example/a", "https://shop.example/b"],
    });
    assert.match(composed, /Current page: https:\/\/shop\.example\/now/);
    assert.equal(composed.split("https://shop.example/a").length, 2);
    assert.match(composed, /Further page: https:\/\/shop\.example\/b/);
  });

  it("tell a structured session that its result is collected after the turn", () => {
    const words = /collected from you in a separate step after your turn.*do not paste JSON/;
    assert.match(composeInstructions({ ...parts, isStructured: true }), words);
    assert.doesNotMatch(composeInstructions(parts), words);
  });

  it("say when nobody is there to answer, and when there are no tools", () => {
    assert.match(composeInstructions({ ...parts, isPersonPresent: false }), /do not ask questions back/);
    assert.match(composeInstructions({ ...parts, toolNames: [] }), /You have no tools/);
  });
});
