import assert from "node:assert/strict";
import type { TestService } from "./testing.ts";

/**
 * Runs a script on the page of a session as the agent does, but outside of a turn.
 *
 * @param script the body of an async function with `page`.
 * @returns what the script returns, as JSON.
 */
export async function runOnPage<Value = unknown>(
  { container }: Pick<TestService, "container">,
  sessionId: string,
  script: string,
): Promise<Value> {
  const tool = container.services.tools.find(({ name }) => name === "browser_execute");
  assert.ok(tool?.acquire);
  const call = {
    sessionId,
    browserSessionId: sessionId,
    rootSessionId: sessionId,
    requestId: null,
    runId: null,
    callId: crypto.randomUUID(),
    mayAskPeople: false,
    hasTool: () => false,
    signal: new AbortController().signal,
  };
  const release = await tool.acquire(call);
  assert.ok(typeof release === "function");
  try {
    const wrapped = `const result = await (async () => { ${script} })(); return JSON.stringify(result ?? null);`;
    const result = await tool.execute({ script: wrapped }, call);
    assert.ok("content" in result);
    const [part] = result.content;
    const text = part?.type === "text" ? part.text : "";
    const found = /Result: ([\s\S]*?)\n<\/data-/.exec(text)?.[1];
    assert.ok(found !== undefined, text);
    // The cast is what the caller expects.
    return JSON.parse(found) as Value;
  } finally {
    release();
  }
}
