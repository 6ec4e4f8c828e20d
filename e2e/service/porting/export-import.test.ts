import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "drizzle-orm";
import { replacePlan } from "#lib/planning/store-plan.ts";
import { addRequirements, updateRequirement } from "#lib/planning/store-requirements.ts";
import { storeReport } from "../reports/reports-testing.ts";
import { storeTestRun } from "../test-runs/store-test-run.ts";
import { OTHER_KEY, openTestService, type TestService } from "../testing.ts";
import { listVariants, playTurn, readRevision, step } from "../variants/variants-testing.ts";
import {
  exportHtml,
  exportSession,
  imported,
  importInto,
  makeSession,
  oneChange,
  storeVariant,
} from "./porting-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "unconfined" });
  service.model.respondWith(() => ({ text: "Done." }));
});
after(() => service.close());

describe("the export of a session", () => {
  it("has an id for the session's state and an ASCII file name, and is 404 for another owner", async () => {
    const { sessionId } = await makeSession(service, "Änderung: „Kasse“ /../ 5 €");
    const path = `/api/sessions/${sessionId}/export`;
    const [answer, again] = [await service.call("GET", path), await exportSession(service, sessionId)];
    assert.equal(
      answer.headers.get("content-disposition"),
      'attachment; filename="anderung-kasse-5.session.json"',
    );
    assert.equal(((await answer.json()) as { id: string }).id, again.id);
    for (const [method, suffix] of [
      ["GET", "export"],
      ["GET", "export?format=html"],
      ["POST", "import"],
      ["GET", "imports"],
      ["GET", "imports/imp_x"],
    ] as const) {
      const body = method === "POST" ? again : undefined;
      const foreign = await service.call(method, `/api/sessions/${sessionId}/${suffix}`, body, {
        authorization: `Bearer ${OTHER_KEY}`,
      });
      assert.equal(foreign.status, 404, suffix);
    }
    const refused = await service.call("GET", `${path}?format=xml`);
    assert.equal(refused.status, 400);
  });

  it("reports that it leaves out test runs only if the session has some", async () => {
    const { sessionId } = await makeSession(service);
    assert.deepEqual((await exportSession(service, sessionId)).leftOut, []);
    await storeTestRun(service, sessionId);
    const reason = "Test runs and their results are not exported.";
    assert.deepEqual((await exportSession(service, sessionId)).leftOut, [{ field: "testRuns", reason }]);
    assert.match(await exportHtml(service, sessionId), new RegExp(`<li>testRuns: ${reason}</li>`));
  });

  it("contains up to 20 MiB of evidence if requested, and reports what it left out", async () => {
    const { sessionId } = await makeSession(service);
    const save = (title: string, size: number) =>
      service.container.services.evidence.save({
        sessionId,
        runId: null,
        kind: "screenshot",
        title,
        url: null,
        mediaType: "image/png",
        bytes: new Uint8Array(size).fill(7),
      });
    await save("small", 3);
    await save("huge", 21 * 1024 * 1024);
    const bare = await exportSession(service, sessionId);
    assert.deepEqual(
      bare.evidence.map(({ title, sizeBytes, data }) => [title, sizeBytes, data]),
      [
        ["small", 3, undefined],
        ["huge", 22_020_096, undefined],
      ],
    );
    const whole = await exportSession(service, sessionId, "?evidence=true");
    assert.deepEqual(
      whole.evidence.map(({ data }) => data),
      ["data:image/png;base64,BwcH", undefined],
    );
    assert.deepEqual(whole.leftOut, [
      { field: "evidence[1].data", reason: "An export carries at most 20 MiB of evidence." },
    ]);
    const html = await exportHtml(service, sessionId);
    assert.ok(html.includes("data:image/png;base64,BwcH"));
    assert.ok(html.includes("huge: The file carries at most 20 MiB of pictures."));
  });

  it("is read only as fast as the client reads, and breaks off if the session is deleted", async () => {
    const { sessionId } = await makeSession(service);
    const { db } = service.container.services;
    const text = "word ".repeat(2_000);
    await db.execute(sql`insert into messages (id, session_id, seq, index, role, parts)
      select ${sessionId} || i, ${sessionId}, i, 0, 'assistant',
        json_build_array(json_build_object('type', 'text', 'text', ${text}::text))
      from generate_series(3, 1000) i`);
    await db.execute(sql`update sessions set message_seq = 1000 where id = ${sessionId}`);
    const open = async (format: string) => {
      const url = `${service.env.baseUrl}/api/sessions/${sessionId}/export?format=${format}`;
      const request = new Request(url, { headers: { authorization: "Bearer key-of-the-service-tests" } });
      const answer = await service.container.mounted.serve({ GET: "exportSession" }, request, { sessionId });
      assert.ok(answer.body);
      return answer.body.getReader();
    };
    const cancelled = await open("json");
    const first = await cancelled.read();
    assert.ok((first.value?.byteLength ?? 0) < 1_000_000, "the first piece is not the whole 10 MB");
    await cancelled.cancel();
    for (const format of ["json", "html"]) {
      const reader = await open(format);
      await reader.read();
      if (format === "html") await service.call("DELETE", `/api/sessions/${sessionId}`);
      const readAll = async () => {
        for (;;) if ((await reader.read()).done) return;
      };
      if (format === "json") await readAll();
      else await assert.rejects(readAll(), /was deleted during its export/);
    }
  });

  it("contains no secret of the session", async () => {
    const secrets = [
      "canary-callback-secret",
      "canary-header-value",
      "canary-system-prompt",
      "canary-metadata",
      "canary-user",
      "canary-user-of-the-follow-up",
    ];
    const { sessionId, shareUrl } = await makeSession(service, "look", {
      callback: { url: "http://127.0.0.1:9/hook?canary-callback-url", secret: secrets[0] },
      mcpServers: { crm: { url: "https://127.0.0.1:9/mcp", headers: { Authorization: secrets[1] } } },
      systemPrompt: secrets[2],
      metadata: { note: secrets[3] },
      userId: secrets[4],
    });
    const followUp = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, {
      text: "look again",
      userId: secrets[5],
    });
    await service.completed((await followUp.json()).statusUrl);
    const link = new URL(shareUrl, service.env.baseUrl).searchParams.get("key") ?? "";
    const json = JSON.stringify(await exportSession(service, sessionId, "?evidence=true"));
    const html = await exportHtml(service, sessionId);
    for (const secret of [...secrets, "canary-callback-url", link])
      for (const exported of [json, html]) assert.ok(!exported.includes(secret), secret);
    assert.ok(json.includes("look again"));
  });

  it("leaves out the authors that a file of an earlier version has, also in the list of imported messages", async () => {
    const { sessionId: from } = await makeSession(service, "of an earlier version");
    const file = await exportSession(service, from);
    const [first, ...others] = file.messages;
    assert.ok(first);
    const messages = [{ ...first, author: "canary-author" }, ...others];
    const { sessionId } = await makeSession(service, "of today");
    const { import: summary } = await imported(service, sessionId, { ...file, messages });
    const listed = await service.call("GET", `/api/sessions/${sessionId}/imports/${summary.id}`);
    const texts = [
      await listed.text(),
      JSON.stringify(await exportSession(service, sessionId)),
      await exportHtml(service, sessionId),
    ];
    for (const text of texts) {
      assert.ok(text.includes("of an earlier version"));
      assert.ok(!text.includes("canary-author"));
    }
  });
});

describe("an import", () => {
  it("only creates new variants, happens once per document, and is listed with its conversation", async () => {
    const { sessionId: from } = await makeSession(service, "the first task");
    await storeVariant(service, from, "main", oneChange("Buy"));
    await service.call("POST", `/api/sessions/${from}/variants/main/publish`, { unchecked: true });
    const file = await exportSession(service, from);
    const { sessionId } = await makeSession(service, "the second task");
    await storeVariant(service, sessionId, "main", oneChange("Pay"));

    const { import: first, leftOut } = await imported(service, sessionId, file);
    assert.deepEqual(first.variants, [{ from: "main", key: "main-2", revision: 1 }]);
    assert.deepEqual(
      leftOut.map(({ field }) => field),
      ["session", "variants[0].publication"],
    );
    assert.deepEqual((await readRevision(service, sessionId, 1)).document, oneChange("Pay"));
    assert.deepEqual((await readRevision(service, sessionId, 1, "main-2")).document, oneChange("Buy"));
    assert.equal((await readRevision(service, sessionId, 1, "main-2")).check, null);

    const { import: again } = await imported(service, sessionId, file, 200);
    assert.deepEqual(again, first);
    assert.deepEqual(
      (await listVariants(service, sessionId)).map(({ key }) => key),
      ["main", "main-2"],
    );
    const list = await service.read<{ data: unknown[] }>(`/api/sessions/${sessionId}/imports`);
    assert.deepEqual(list.data, [first]);
    const page = await service.read<{ data: { parts: unknown[] }[]; nextCursor: string | null }>(
      `/api/sessions/${sessionId}/imports/${first.id}?limit=1`,
    );
    assert.deepEqual(page.data, file.messages.slice(0, 1));
    const rest = await service.read<{ data: unknown[]; nextCursor: string | null }>(
      `/api/sessions/${sessionId}/imports/${first.id}?cursor=${page.nextCursor}`,
    );
    assert.deepEqual([rest.data, rest.nextCursor], [file.messages.slice(1), null]);
    const events = await service.container.services.log.read(sessionId, { after: 0, limit: 500 });
    assert.equal(events.filter(({ kind }) => kind === "document.imported").length, 1);
    // The import has not changed the session's own transcript.
    const transcript = await service.read<{ data: unknown[] }>(`/api/sessions/${sessionId}/messages`);
    assert.equal(transcript.data.length, 2);
  });

  it("happens once if a document is sent several times at once", async () => {
    const { sessionId: from } = await makeSession(service);
    await storeVariant(service, from, "main", oneChange("Buy"));
    const file = await exportSession(service, from);
    const { sessionId } = await makeSession(service);
    const answers = await Promise.all([1, 2, 3].map(() => importInto(service, sessionId, file)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 201]);
    assert.equal((await listVariants(service, sessionId)).length, 1);
  });

  it("leaves out results and sub-agents by name, and adds its variants to the outcome of a structured session", async () => {
    const outputSchema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
    const { session } = await playTurn(
      service,
      [
        {
          toolCalls: [
            { name: "spawn_agents", arguments: { agents: [{ objective: "look around", name: "scout" }] } },
          ],
        },
      ],
      { subAgents: true, outputSchema, capabilities: { browser: false } },
    );
    const file = await exportSession(service, session.sessionId);
    assert.deepEqual(file.deliverables, [
      { runId: session.runId, status: "ready", value: { title: "Shop" } },
    ]);
    assert.deepEqual(
      file.agents.map(({ name, objective, status }) => [name, objective, status]),
      [["scout", "look around", "succeeded"]],
    );
    const html = await exportHtml(service, session.sessionId);
    assert.match(html, /<span class="key">title:<\/span> Shop/);
    assert.match(html, /scout <span class="soft">succeeded/);
    const source = await makeSession(service);
    await storeVariant(service, source.sessionId, "main", oneChange("Buy"));
    const { variants } = await exportSession(service, source.sessionId);
    const { session: target } = await playTurn(
      service,
      [step("import_legacy_session", { document: { ...file, variants } })],
      { outputSchema, tools: { include: ["import_legacy_session"] }, capabilities: { browser: false } },
    );
    const [summary] = (
      await service.read<{ data: { id: string }[] }>(`/api/sessions/${target.sessionId}/imports`)
    ).data;
    const { leftOut } = await service.read<{ leftOut: { field: string }[] }>(
      `/api/sessions/${target.sessionId}/imports/${summary?.id}`,
    );
    assert.deepEqual(
      leftOut.map(({ field }) => field),
      ["session", "deliverables", "agents", "leftOut"],
    );
    const events = await service.container.services.log.read(target.sessionId, { after: 0, limit: 500 });
    const end = events.map(({ body }) => JSON.parse(body)).find(({ kind }) => kind === "run.completed");
    assert.deepEqual(
      [end.deliverable.status, end.variants.map(({ key }: { key: string }) => key)],
      ["ready", ["main"]],
    );
  });

  it("accepts exports of variants, and documents of GrowthBook and PostHog", async () => {
    const { sessionId: from } = await makeSession(service);
    await storeVariant(service, from, "b", oneChange("Buy"));
    const { sessionId } = await makeSession(service);
    const keys: string[] = [];
    for (const [format, name] of [
      ["json", "agent-session-variant"],
      ["growthbook", "growthbook"],
      ["posthog", "posthog"],
    ]) {
      const path = `/api/sessions/${from}/variants/b/revisions/1/export?format=${format}`;
      const answer = await service.read<{ document: unknown }>(path);
      const { import: summary } = await imported(service, sessionId, answer.document);
      assert.equal(summary.format, name);
      keys.push(...summary.variants.map(({ key }) => key));
      assert.equal((await imported(service, sessionId, answer.document, 200)).import.id, summary.id);
      // A client may also import the whole answer of the export operation.
      assert.equal((await importInto(service, from, answer)).status, 201);
    }
    assert.deepEqual(keys, ["b", "main", "main-2"]);
  });

  it("adds the plan to a session without one, and requirements as open ones, without duplicates", async () => {
    const { sessionId: from } = await makeSession(service);
    const { planning } = service.container.services;
    const base = { rootSessionId: from, requestId: null, runId: null, callId: null };
    const items = [
      { id: "ask-ann", text: "Ask", status: "done" as const },
      { text: "Change", status: "todo" as const },
    ];
    await replacePlan(planning, { ...base, items });
    const assertion = { url: "https://shop.example/", selector: "#pay", is: "text" as const, value: "Buy" };
    const requirements = [{ text: "It reads Buy", assertion }, { text: "It is blue" }, { text: "It is red" }];
    await addRequirements(planning, { ...base, author: "agent", requirements });
    const person = { ...base, author: "person" as const };
    await updateRequirement(planning, { ...person, id: "r1", change: { status: "met", note: "Seen" } });
    await updateRequirement(planning, { ...person, id: "r3", change: { status: "waived" } });
    await storeReport(service, from);
    const file = await exportSession(service, from);
    assert.deepEqual([file.plan?.items.length, file.requirements.length], [2, 3]);
    assert.deepEqual(
      file.reports.map(({ title, findings }) => [title, findings[0]?.steps, findings[0]?.evidence.length]),
      [["Checkout audit", ["Open the checkout.", "Tab to the button."], 1]],
    );

    const { sessionId } = await makeSession(service);
    const answers = await Promise.all([1, 2].map(() => importInto(service, sessionId, file)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 201]);
    const [answer] = answers;
    assert.ok(answer);
    const { import: summary, leftOut } = (await answer.json()) as {
      import: { planItemCount: number; requirementCount: number };
      leftOut: { field: string }[];
    };
    assert.deepEqual([summary.planItemCount, summary.requirementCount], [2, 2]);
    assert.deepEqual(
      leftOut.map(({ field }) => field),
      ["session", "requirements[2]", "requirements", "reports", "evidence"],
    );
    const after = await exportSession(service, sessionId);
    assert.deepEqual(after.plan, {
      mode: "off",
      author: "person",
      items: [
        { id: "p1", text: "Ask", status: "done" },
        { id: "p2", text: "Change", status: "todo" },
      ],
    });
    assert.deepEqual(
      after.requirements.map(({ id, text, status, note, author }) => [id, text, status, note, author]),
      [
        ["r1", "It reads Buy", "open", null, "person"],
        ["r2", "It is blue", "open", null, "person"],
      ],
    );
    assert.deepEqual(after.requirements[0]?.assertion, assertion);
    assert.deepEqual(after.reports, []);

    // A newer export of the same session adds only the content that the first export did not have.
    await addRequirements(planning, { ...base, author: "agent", requirements: [{ text: "It is green" }] });
    const { leftOut: again } = await imported(service, sessionId, await exportSession(service, from));
    const fields = again.map(({ field }) => field);
    for (const field of ["plan", "requirements[0]", "requirements[1]"])
      assert.ok(fields.includes(field), field);
    const { requirements: all } = await exportSession(service, sessionId);
    assert.deepEqual(
      all.map(({ text }) => text),
      ["It reads Buy", "It is blue", "It is green"],
    );
    const events = await service.container.services.log.read(sessionId, { after: 0, limit: 500 });
    const kinds = events.map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === "plan.updated").length, 1);
    assert.equal(kinds.filter((kind) => kind === "requirement.updated").length, 2);
  });

  it("is refused completely if its requirements exceed the limit", async () => {
    const { sessionId: from } = await makeSession(service);
    const { planning } = service.container.services;
    const add = (rootSessionId: string, name: string) =>
      addRequirements(planning, {
        ...{ rootSessionId, requestId: null, runId: null, callId: null, author: "person" },
        requirements: Array.from({ length: 60 }, (_, index) => ({ text: `${name} ${index}` })),
      });
    await add(from, "there");
    await storeVariant(service, from, "main", oneChange("Buy"));
    const { sessionId } = await makeSession(service);
    await add(sessionId, "here");
    const refused = await importInto(service, sessionId, await exportSession(service, from));
    assert.equal(refused.status, 409);
    assert.equal(
      ((await refused.json()) as { error: string }).error,
      "requirements: the session has 60 and the document adds 60; a session may have 100",
    );
    assert.deepEqual(await listVariants(service, sessionId), []);
  });

  it("is refused completely if its variants exceed the limit", async () => {
    const { sessionId: from } = await makeSession(service);
    for (let index = 0; index < 14; index++) await storeVariant(service, from, `v${index}`, oneChange("Buy"));
    const file = await exportSession(service, from);
    const { sessionId } = await makeSession(service);
    await imported(service, sessionId, file);
    const refused = await importInto(service, sessionId, { ...file, id: "another" });
    assert.equal(refused.status, 409);
    assert.equal(
      ((await refused.json()) as { error: string }).error,
      "variants: the session has 14 and the document adds 14; a session may have 26",
    );
    assert.equal((await listVariants(service, sessionId)).length, 14);
  });
});
