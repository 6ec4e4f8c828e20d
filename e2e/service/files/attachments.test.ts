import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import sharp from "sharp";
import type { RecordedRequest } from "#e2e/fixtures/scripted-model/types.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { drawPicture, openFiles, refusalOf } from "./files-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "unconfined" });
  service.model.respondWith(() => ({ text: "Done." }));
});
after(() => service.close());

type Item = { role?: string; content?: { type: string; text?: string; image_url?: string }[] };

/** The user messages of a request to the model, without those that the service adds. */
const userMessages = ({ body }: RecordedRequest) =>
  (body.input as Item[])
    .filter(({ role }) => role === "user")
    .map(({ content }) => content ?? [])
    .filter(([first]) => !first?.text?.startsWith("[Added by the service]"));

/** Posts a message and waits until its turn has ended. @returns the model call of the turn. */
async function post(api: string, body: Record<string, unknown>): Promise<RecordedRequest> {
  const from = service.model.requests.length;
  const response = await service.call("POST", `${api}/agent/messages`, body);
  assert.equal(response.status, 202, await response.clone().text());
  await service.completed(((await response.json()) as { statusUrl: string }).statusUrl);
  const request = service.model.requests.slice(from).find(({ kind }) => kind === "turn");
  assert.ok(request);
  return request;
}

const listEvidence = async (sessionId: string) => service.container.services.evidence.list(sessionId);

describe("the model is sent", () => {
  it("the paths of all attached files, and pictures that it can see", async () => {
    const { api, put } = await openFiles(service);
    const picture = await drawPicture();
    await put("uploads/plan.png", picture);
    await put("uploads/notes.txt", "The price is 12 EUR.");
    await put("uploads/contract.pdf", "%PDF-1.7 …");
    // The name says nothing: a picture is recognized by its bytes.
    await put("uploads/fake.png", "no picture");
    await put("uploads/broken.png", picture.subarray(0, 20));
    const attachments = ["plan.png", "notes.txt", "contract.pdf", "fake.png", "broken.png"].map(
      (name) => `uploads/${name}`,
    );
    const request = await post(api, { text: "Look at these", attachments });
    assert.deepEqual(userMessages(request).at(-1), [
      {
        type: "input_text",
        text: `Look at these

[The sender attached 5 files of the workspace to this message:
- uploads/plan.png (image/png, ${picture.length} bytes, shown below)
- uploads/notes.txt (text/plain, 20 bytes)
- uploads/contract.pdf (application/pdf, 12 bytes)
- uploads/fake.png (image/png, 10 bytes)
- uploads/broken.png (image/png, 20 bytes)]`,
      },
      { type: "input_image", image_url: `data:image/png;base64,${picture.toString("base64")}` },
    ]);
  });

  it("a smaller copy of a large picture, and only the path of one over 5 MiB", async () => {
    const { api, put } = await openFiles(service);
    await put("large.jpg", await drawPicture(4_000, 1_000, "jpeg"));
    const noise = Buffer.alloc(1_400 * 1_400 * 3, 0).map(() => Math.floor(Math.random() * 256));
    await put(
      "huge.png",
      await sharp(noise, { raw: { width: 1_400, height: 1_400, channels: 3 } })
        .png()
        .toBuffer(),
    );
    const request = await post(api, { text: "", attachments: ["large.jpg", "huge.png"] });
    const [text, image, ...others] = userMessages(request).at(-1) ?? [];
    assert.match(
      text?.text ?? "",
      /^\[The sender attached 2 files .*\n- large\.jpg \(image\/jpeg, .* shown below\)\n- huge\.png \([^\n]* bytes\)\]$/,
    );
    assert.equal(others.length, 0);
    const sent = Buffer.from(image?.image_url?.split(",")[1] ?? "", "base64");
    const { width, height } = await sharp(sent).metadata();
    assert.deepEqual([width, height], [1_568, 392]);
  });

  it("the picture as it was attached, also after the file has changed, and the same beginning", async () => {
    const { api, put } = await openFiles(service);
    await put("a.png", await drawPicture());
    const first = await post(api, { text: "One", attachments: ["a.png"] });
    await put("a.png", await drawPicture(10, 10));
    const second = await post(api, { text: "Two" });
    const [earlier, later] = [first.body.input as unknown[], second.body.input as unknown[]];
    for (const [index, item] of earlier.entries())
      assert.equal(JSON.stringify(later[index]), JSON.stringify(item), `item ${index}`);
  });

  it("nothing but the text if the text looks like a reference", async () => {
    const { api, put } = await openFiles(service);
    await put("a.txt", "x");
    const text = "evidence:evi_aaaaaaaaaaaaaaaaaaaaaaaa;image/png";
    const request = await post(api, { text, attachments: ["a.txt"] });
    assert.match(
      userMessages(request).at(-1)?.[0]?.text ?? "",
      /^evidence:evi_a+;image\/png\n\n\[The sender/,
    );
    assert.deepEqual(userMessages(await post(api, { text })).at(-1), [{ type: "input_text", text }]);
  });
});

describe("an attachment", () => {
  it("is stored with its message: in the transcript, in exports and as evidence", async () => {
    const { api, put, sessionId } = await openFiles(service);
    await put("a.png", await drawPicture());
    await put("b.txt", "x");
    await post(api, { text: "See", attachments: ["a.png", "./b.txt"] });
    const { data } = await service.read<{ data: { role: string; parts: unknown[] }[] }>(`${api}/messages`);
    const [evidence] = await listEvidence(sessionId);
    assert.deepEqual(data.findLast(({ role }) => role === "user")?.parts, [
      { type: "text", text: "See" },
      {
        type: "attachment",
        path: "a.png",
        mediaType: "image/png",
        sizeBytes: (await drawPicture()).length,
        evidenceId: evidence?.id,
      },
      { type: "attachment", path: "b.txt", mediaType: "text/plain", sizeBytes: 1, evidenceId: null },
    ]);
    const exported = await (await service.call("GET", `${api}/export`)).text();
    assert.match(exported, /"type":"attachment","path":"a\.png"/);
    const html = await (await service.call("GET", `${api}/export?format=html`)).text();
    assert.match(html, /Attached file: a\.png/);
    const other = await openFiles(service);
    const imported = await service.call("POST", `${other.api}/import`, exported);
    assert.equal(imported.status, 201, await imported.clone().text());
    assert.doesNotMatch(await imported.text(), /parts\[\d\]/, "nothing of the messages is left out");
  });

  it("that cannot be attached is a 400 that names it, and nothing changes", async () => {
    const { api, put, sessionId } = await openFiles(service);
    await put("a.png", await drawPicture());
    await put("folder/b.txt", "x");
    const refused: [body: Record<string, unknown>, error: string][] = [
      [{ text: "x", attachments: ["none"] }, "attachments[0]: none does not exist"],
      [{ text: "x", attachments: ["a.png", "folder"] }, "attachments[1]: folder is a folder"],
      [{ text: "x", attachments: ["a.png", "../b"] }, 'attachments[1]: must not contain ".."'],
      [{ text: "x", attachments: ["a.png", "a.png"] }, "attachments[1]: is attached already"],
      [{ text: "x", attachments: ["a.png", "./a.png"] }, "attachments[1]: is attached already"],
      [{ text: "x", attachments: [""] }, "attachments[0]: must not be empty"],
      [{ text: "x", attachments: "a.png" }, "attachments: must be an array"],
      [{ text: "x", attachments: Array(11).fill("a") }, "attachments: must hold at most 10 paths"],
      [{ text: "", attachments: [] }, "text: must not be empty"],
      [{ attachments: ["a.png"] }, "text: is required (or message, or messages)"],
      [
        { message: { role: "user", parts: [{ type: "text", text: "x" }] }, attachments: ["a.png"] },
        "attachments: can be sent only with text",
      ],
    ];
    const before = await service.read<{ data: unknown[] }>(`${api}/messages`);
    for (const [body, error] of refused) {
      const response = await service.call("POST", `${api}/agent/messages`, body);
      assert.deepEqual(await refusalOf(response), [400, error]);
    }
    assert.deepEqual(await service.read(`${api}/messages`), before);
    assert.deepEqual(await listEvidence(sessionId), []);
    const unused = await openFiles(service);
    const response = await service.call("POST", `${unused.api}/agent/messages`, {
      text: "x",
      attachments: ["a"],
    });
    assert.deepEqual(await refusalOf(response), [400, "attachments[0]: a does not exist"]);
  });

  it("is part of what an idempotency key compares, and a replay needs no file", async () => {
    const { api, put, remove, sessionId } = await openFiles(service);
    await put("a.png", await drawPicture());
    const body = { text: "See", attachments: ["a.png"], idempotencyKey: "once" };
    const send = (sent: object) => service.call("POST", `${api}/agent/messages`, sent);
    const first = await (await send(body)).json();
    await remove("a.png");
    const replay = await send(body);
    assert.deepEqual(
      [replay.status, replay.headers.get("idempotency-replayed"), await replay.json()],
      [202, "true", { ...first, queued: false }],
    );
    assert.equal((await send({ ...body, attachments: [] })).status, 422);
    assert.equal((await listEvidence(sessionId)).length, 1);
  });

  it("stays with a queued message whose text is edited, and is read when the message steers", async () => {
    const { api, put } = await openFiles(service);
    await put("a.txt", "x");
    let release = () => {};
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    service.model.respondWith(({ userText, answersSoFar }) =>
      userText.includes("hold") && answersSoFar === 0
        ? { toolCalls: [{ name: "list_files", arguments: {} }], hold }
        : { text: "Done." },
    );
    const send = async (body: object) =>
      (await service.call("POST", `${api}/agent/messages`, body)).json() as Promise<Record<string, string>>;
    const running = await send({ text: "hold" });
    await service.model.waitForRequest(({ userText }) => userText.includes("hold"));
    const queued = await send({ text: "then", attachments: ["a.txt"] });
    const steer = await send({ text: "now", attachments: ["a.txt"], mode: "steer" });
    const edited = await service.call("PATCH", `${api}/queue/${queued.requestId}`, { text: "later" });
    assert.equal(edited.status, 200);
    const { data } = await service.read<{ data: { text: string; attachments: string[] }[] }>(`${api}/queue`);
    assert.deepEqual(
      data.map(({ text, attachments }) => [text, attachments]),
      [
        ["now", ["a.txt"]],
        ["later", ["a.txt"]],
      ],
    );
    release();
    for (const each of [running, steer, queued]) await service.completed(each.statusUrl ?? "");
    service.model.respondWith(() => ({ text: "Done." }));
    const texts = service.model.requests.flatMap(userMessages).map(([first]) => first?.text);
    for (const word of ["now", "later"])
      assert.ok(
        texts.includes(
          `${word}\n\n[The sender attached 1 file of the workspace to this message:\n- a.txt (text/plain, 1 byte)]`,
        ),
        word,
      );
  });

  it("of a message that is refused leaves no picture behind", async () => {
    const { api, put, sessionId } = await openFiles(service);
    await put("a.png", await drawPicture());
    let release = () => {};
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    service.model.respondWith(() => ({ text: "Done.", hold }));
    try {
      const send = (body: object) => service.call("POST", `${api}/agent/messages`, body);
      await send({ text: "hold" });
      await waitUntil(
        async () =>
          (await service.read<{ turnState: string }>(`${api}/agent/status`)).turnState === "running",
        "a turn runs",
      );
      await Promise.all(Array.from({ length: 100 }, () => send({ text: "wait" })));
      assert.equal((await send({ text: "see", attachments: ["a.png"] })).status, 409);
      assert.deepEqual(await listEvidence(sessionId), []);
    } finally {
      release();
      service.model.respondWith(() => ({ text: "Done." }));
    }
  });
});
