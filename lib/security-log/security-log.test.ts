import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keepAddress, withAddress } from "./request-address.ts";
import { createSecurityLog } from "./security-log.ts";

type Line = Record<string, unknown> & { level: string; message: string };

function openLog() {
  const lines: Line[] = [];
  const writeAt = (level: string) => (fields: object, message: string) =>
    void lines.push({ ...fields, level, message });
  const log = createSecurityLog({ info: writeAt("info"), warn: writeAt("warn"), error: writeAt("error") });
  return { log, lines };
}

describe("the security log", () => {
  it("writes one line per event, with its kind, outcome and fields", () => {
    const { log, lines } = openLog();
    log.keyRevoked({ actor: "operator", keyId: "a1", ownerId: "acme" });
    log.erasureFailed({ sessionId: "ses_a", left: ["table runs"] });
    assert.deepEqual(lines, [
      {
        event: "api_key.revoked",
        outcome: "success",
        actor: "operator",
        keyId: "a1",
        ownerId: "acme",
        level: "info",
        message: "an API key was revoked",
      },
      {
        event: "erasure.failed",
        outcome: "failure",
        sessionId: "ses_a",
        left: ["table runs"],
        level: "error",
        message: "rows or files of a removed session are left",
      },
    ]);
  });

  it("records the client's address, also after the request, except for events of a session", async () => {
    const { log, lines } = openLog();
    const keep = await withAddress("192.0.2.7", async () => {
      await null;
      log.keyRefused({ keyId: "a1" });
      log.networkRefused({ source: "proxy", host: "10.0.0.1", reason: "is private", sessionId: "ses_a" });
      return keepAddress();
    });
    keep(() => log.shareTokenRefused({ sessionId: "ses_a" }));
    log.loginFailed({});
    assert.deepEqual(
      lines.map(({ event, address }) => [event, address]),
      [
        ["api_key.refused", "192.0.2.7"],
        ["network.refused", undefined],
        ["share_token.refused", "192.0.2.7"],
        ["login.failed", undefined],
      ],
    );
  });

  it("contains no credential and no query, and truncates long texts", () => {
    const { log, lines } = openLog();
    const reason =
      "https://user:hunter2@h.example/p?token=abc refused ask_0123456789abcdef_Zm9vYmFyYmF6Zm9vYmFyYmF6 ust1.Y2xhaW1z.bWFj";
    log.networkRefused({ source: "mcp", host: "h.example", reason });
    log.networkRefused({ source: "mcp", host: "h".repeat(10_000), reason: "x" });
    const text = JSON.stringify(lines);
    for (const secret of ["hunter2", "token=abc", "Zm9vYmFy", "Y2xhaW1z"])
      assert.ok(!text.includes(secret), secret);
    assert.match(String(lines[0]?.reason), /^https:\/\/\[removed\]@h\.example\/p\?\[removed\] refused ask_/);
    assert.ok(text.length < 2_000);
  });
});

describe("a flood of events", () => {
  it("from one address writes five lines and a count; events of other addresses are still written", (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const { log, lines } = openLog();
    for (let index = 0; index < 100_000; index += 1)
      withAddress("192.0.2.1", () => log.keyRefused({ keyId: "a1" }));
    withAddress("192.0.2.2", () => log.keyRefused({}));
    assert.deepEqual(
      lines.map(({ address }) => address),
      [...Array(5).fill("192.0.2.1"), "192.0.2.2"],
    );
    context.mock.timers.tick(60_000);
    const { message, ...summary } = lines[6] ?? { message: "" };
    assert.deepEqual(summary, {
      event: "api_key.refused",
      outcome: "failure",
      isSummary: true,
      suppressed: 99_995,
      windowSeconds: 60,
      countedBy: "address",
      subjects: 2,
      top: [
        { subject: "192.0.2.1", count: 100_000 },
        { subject: "192.0.2.2", count: 1 },
      ],
      level: "warn",
    });
    withAddress("192.0.2.1", () => log.keyRefused({}));
    assert.equal(lines.length, 8, "the first event of the next minute is written");
    context.mock.timers.tick(60_000);
    assert.equal(lines.length, 8, "a minute without suppressed events writes no summary");
  });

  it("from many addresses is bounded in lines and memory too, and close writes the count", () => {
    const { log, lines } = openLog();
    for (let index = 0; index < 50_000; index += 1)
      withAddress(`2001:db8::${index.toString(16)}`, () => log.shareTokenRefused({ sessionId: "ses_a" }));
    log.keyRevoked({ actor: "operator", keyId: "a1", ownerId: "acme" });
    assert.equal(lines.length, 31, "30 refusals, and the event of another kind");
    log.close();
    assert.equal(lines.length, 32);
    const summary = lines[31];
    assert.ok(summary && Array.isArray(summary.top));
    assert.deepEqual(
      [summary.suppressed, summary.subjects, summary.eventsOfFurtherSubjects, summary.top.length],
      [49_970, 1_000, 49_000, 10],
    );
  });
});
