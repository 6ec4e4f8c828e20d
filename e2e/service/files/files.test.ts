import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { openTestService, type TestService } from "../testing.ts";
import { drawPicture, openFiles, refusalOf } from "./files-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "unconfined" });
  service.model.respondWith(() => ({ text: "Done." }));
});
after(() => service.close());

describe("a file of the workspace", () => {
  it("is written, listed, read and removed, and each change is an event", async () => {
    const session = await openFiles(service);
    assert.deepEqual((await session.list()).data, [], "a workspace that was not used yet");
    const bytes = new Uint8Array([0, 1, 2, 255]);
    const written = await session.put("reports/q3/data.bin", bytes);
    assert.equal(written.status, 201);
    const { file } = (await written.json()) as { file: Record<string, unknown> };
    assert.deepEqual(
      [file.path, file.type, file.sizeBytes, file.mediaType],
      ["reports/q3/data.bin", "file", 4, "application/octet-stream"],
    );
    assert.deepEqual([...(await session.onDisk("reports/q3/data.bin"))], [...bytes]);
    const root = await session.list();
    assert.deepEqual(
      root.data.map(({ path, type }) => [path, type]),
      [["reports", "folder"]],
    );
    const [listed] = (await session.list("?path=reports/q3")).data;
    assert.equal(listed?.path, "reports/q3/data.bin");
    assert.equal(listed?.modifiedAt, file.modifiedAt);
    const read = await session.get("reports/q3/data.bin");
    assert.deepEqual(new Uint8Array(await read.arrayBuffer()), bytes);
    assert.equal((await session.remove("reports/q3/data.bin")).status, 200);
    assert.equal((await session.get("reports/q3/data.bin")).status, 404);
    assert.equal((await session.remove("reports/q3")).status, 200, "an empty folder");
    const events = await service.container.services.log.read(session.sessionId, { after: 0, limit: 100 });
    assert.deepEqual(
      events
        .map(({ body }) => JSON.parse(body))
        .filter(({ kind }) => kind === "workspace.changed")
        .map(({ path, change, sizeBytes }) => [path, change, sizeBytes]),
      [
        ["reports/q3/data.bin", "written", 4],
        ["reports/q3/data.bin", "removed", null],
        ["reports/q3", "removed", null],
      ],
    );
  });

  it("is listed in pages, by name", async () => {
    const session = await openFiles(service);
    for (const name of ["b", "ä", "a", "c"]) await session.put(encodeURIComponent(name), "x");
    const names: string[] = [];
    let cursor: string | null = "";
    for (let pages = 0; cursor !== null; pages += 1) {
      assert.ok(pages < 3);
      const page = await session.list(`?limit=2${cursor && `&cursor=${cursor}`}`);
      names.push(...page.data.map(({ path }) => path));
      cursor = page.nextCursor;
    }
    assert.deepEqual(names, ["a", "b", "c", "ä"]);
    assert.deepEqual(await refusalOf(await service.call("GET", `${session.files}?path=nowhere`)), [
      404,
      "path: nowhere does not exist",
    ]);
    assert.deepEqual(await refusalOf(await service.call("GET", `${session.files}?path=a`)), [
      400,
      "path: a is not a folder",
    ]);
    assert.equal((await service.call("GET", `${session.files}?limit=0`)).status, 400);
  });

  it("may be empty or as large as the limit, and not larger", async () => {
    const session = await openFiles(service);
    assert.equal((await session.put("empty", "")).status, 201);
    assert.equal((await session.get("empty")).headers.get("content-length"), "0");
    const largest = new Uint8Array(16 * 2 ** 20).fill(7);
    assert.equal((await session.put("largest", largest)).status, 201);
    const read = await session.get("largest");
    assert.equal(read.headers.get("content-length"), String(largest.byteLength));
    assert.ok(Buffer.from(await read.arrayBuffer()).equals(largest), "sent in several parts");
    const larger = await session.put("larger", new Uint8Array(16 * 2 ** 20 + 1));
    assert.deepEqual(await refusalOf(larger), [413, "body: must be at most 16,384 KiB"]);
    assert.equal((await session.get("larger")).status, 404);
  });
});

describe("the path of a file", () => {
  const REFUSED: [path: string, error: RegExp][] = [
    ["..%2Foutside", /must not contain "\.\."/],
    ["a%2F..%2F..%2Foutside", /must not contain "\.\."/],
    ["a%5C..%5Coutside", /must not contain "\.\."/],
    ["%2Fetc%2Fpasswd", /must be relative to the workspace/],
    ["%5Cserver%5Cshare", /must be relative/],
    ["C:%2Fwindows", /must be relative/],
    ["a%00b", /must not contain NUL/],
    [".%2F.", /must name a file/],
    ["x".repeat(256), /at most 255 bytes/],
    [`${"a%2F".repeat(600)}b`, /at most 1024 characters/],
  ];

  it("is refused before anything is read, written or removed if it leads elsewhere", async () => {
    const session = await openFiles(service);
    await session.put("kept", "x");
    for (const [path, error] of REFUSED)
      for (const response of [
        await session.get(path),
        await session.put(path, "evil"),
        await session.remove(path),
      ]) {
        const [status, sentence] = await refusalOf(response);
        assert.equal(status, 400, path);
        assert.match(sentence, error, path);
      }
    assert.deepEqual(
      (await session.list()).data.map(({ path }) => path),
      ["kept"],
    );
  });

  it("follows no link out of the workspace", async () => {
    const session = await openFiles(service);
    await session.put("inside.txt", "inside");
    const outside = join(service.dataDir, "outside");
    await mkdir(outside, { recursive: true });
    await writeFile(join(outside, "secret.txt"), "secret");
    await symlink(join(outside, "secret.txt"), join(session.folder, "secret"));
    await symlink(outside, join(session.folder, "away"));
    await symlink("inside.txt", join(session.folder, "near"));
    assert.deepEqual(await refusalOf(await session.get("secret")), [
      400,
      "path: secret leads out of the workspace",
    ]);
    assert.equal((await session.get("away/secret.txt")).status, 400);
    assert.equal((await session.put("away/new.txt", "x")).status, 400);
    assert.equal((await session.remove("away/secret.txt")).status, 400);
    assert.equal((await service.call("GET", `${session.files}?path=away`)).status, 400);
    assert.equal(await (await session.get("near")).text(), "inside");
    // A write and a removal change the link itself.
    assert.equal((await session.put("secret", "mine")).status, 201);
    assert.equal(await (await session.get("secret")).text(), "mine");
    assert.equal((await session.remove("away")).status, 200);
    assert.equal(
      String(await (await import("node:fs/promises")).readFile(join(outside, "secret.txt"))),
      "secret",
    );
  });

  it("of a folder is refused, and a folder with files is not removed", async () => {
    const session = await openFiles(service);
    await session.put("folder/a.txt", "x");
    assert.deepEqual(await refusalOf(await session.get("folder")), [400, "path: folder is a folder"]);
    assert.deepEqual(await refusalOf(await session.put("folder", "x")), [400, "path: folder is a folder"]);
    assert.deepEqual(await refusalOf(await session.remove("folder")), [
      400,
      "path: folder is a folder that is not empty",
    ]);
    assert.deepEqual(await refusalOf(await session.put("folder/a.txt/b", "x")), [
      400,
      "path: a.txt is not a folder",
    ]);
    assert.deepEqual(await refusalOf(await session.remove("none")), [404, "path: none does not exist"]);
  });
});

describe("a conditional change", () => {
  it("with If-None-Match: * creates a file once, also if two calls race", async () => {
    const session = await openFiles(service);
    const once = { "if-none-match": "*" };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => session.put("new.txt", `call ${index}`, once)),
    );
    const winner = answers.findIndex(({ status }) => status === 201);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 412, 412, 412, 412, 412, 412, 412]);
    assert.equal(await (await session.get("new.txt")).text(), `call ${winner}`);
    const [, error] = await refusalOf(await session.put("new.txt", "again", once));
    assert.equal(error, "path: new.txt exists already");
  });

  it("with If-Match changes only the version that the caller has read", async () => {
    const session = await openFiles(service);
    const first = (await session.put("a.txt", "one")).headers.get("etag") ?? "";
    assert.equal((await session.get("a.txt")).headers.get("etag"), first);
    const answers = await Promise.all(
      ["two", "too"].map((text) => session.put("a.txt", text, { "if-match": first })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412]);
    assert.equal((await session.remove("a.txt", { "if-match": first })).status, 412);
    const second = answers.find(({ status }) => status === 200)?.headers.get("etag") ?? "";
    assert.notEqual(second, first);
    // A program that writes in place changes the version, too.
    await writeFile(join(session.folder, "a.txt"), "six");
    assert.equal((await session.put("a.txt", "x", { "if-match": second })).status, 412);
    assert.equal((await session.put("none/b.txt", "x", { "if-match": "*" })).status, 412);
    assert.equal((await session.list("?path=")).data.length, 1, "no folder was created");
    assert.equal((await session.put("a.txt", "seven", { "if-match": "*" })).status, 200);
  });

  it("with ifExists=rename gives each file a name of its own", async () => {
    const session = await openFiles(service);
    const send = (path: string) => session.put(`${path}?ifExists=rename`, "x");
    const answers = await Promise.all(["a/p.tar.gz", "a/p.tar.gz", "a/p.tar.gz", ".env", ".env"].map(send));
    assert.deepEqual(
      await Promise.all(answers.map(async (answer) => (await answer.json()).file.path)).then((all) =>
        all.sort(),
      ),
      [".env", ".env (2)", "a/p.tar (2).gz", "a/p.tar (3).gz", "a/p.tar.gz"],
    );
    const both = await session.put("b?ifExists=rename", "x", { "if-none-match": "*" });
    assert.equal(both.status, 400);
  });

  it("is refused if it names something else", async () => {
    const session = await openFiles(service);
    for (const headers of [
      { "if-none-match": '"abc"' },
      { "if-none-match": "*", "if-match": "*" },
      { "content-range": "bytes 0-1/2" },
    ] as Record<string, string>[])
      assert.equal((await session.put("a", "x", headers)).status, 400);
    assert.equal((await session.put("a", "x", { "if-match": "nonsense" })).status, 412);
  });
});

describe("the answer to a read", () => {
  it("has the part that Range names", async () => {
    const session = await openFiles(service);
    await session.put("ten", "0123456789");
    const read = async (range: string, more: Record<string, string> = {}) => {
      const response = await session.get("ten", { range, ...more });
      return [response.status, await response.text(), response.headers.get("content-range")];
    };
    assert.deepEqual(await read("bytes=0-0"), [206, "0", "bytes 0-0/10"]);
    assert.deepEqual(await read("bytes=2-4"), [206, "234", "bytes 2-4/10"]);
    assert.deepEqual(await read("bytes=7-"), [206, "789", "bytes 7-9/10"]);
    assert.deepEqual(await read("bytes=-3"), [206, "789", "bytes 7-9/10"]);
    assert.deepEqual(await read("bytes=-30"), [206, "0123456789", "bytes 0-9/10"]);
    assert.deepEqual(await read("bytes=8-99"), [206, "89", "bytes 8-9/10"]);
    for (const whole of ["bytes=4-2", "bytes=-", "items=0-1", "bytes=0-1,3-4", "nonsense"])
      assert.deepEqual(await read(whole), [200, "0123456789", null], whole);
    for (const none of ["bytes=10-", "bytes=99-100", "bytes=-0"]) {
      const [status, , range] = await read(none);
      assert.deepEqual([status, range], [416, "bytes */10"], none);
    }
    const etag = (await session.get("ten")).headers.get("etag") ?? "";
    assert.equal((await read("bytes=0-1", { "if-range": etag }))[0], 206);
    assert.equal((await read("bytes=0-1", { "if-range": '"old"' }))[0], 200);
    assert.equal((await session.get("ten", { "if-none-match": etag })).status, 304);
    const head = await service.call("HEAD", `${session.files}/ten`);
    assert.deepEqual([head.headers.get("content-length"), await head.text()], ["10", ""]);
  });

  it("lets no file run in the origin of the service", async () => {
    const session = await openFiles(service);
    const html = "<script>alert(document.domain)</script>";
    for (const name of [
      "a.html",
      "a.svg",
      "a.xhtml",
      "a.xml",
      "a.js",
      "a.css",
      "a",
      "a.mhtml",
      "a.pdf.html",
    ]) {
      await session.put(name, html);
      const { headers } = await session.get(name);
      assert.equal(headers.get("content-type"), "application/octet-stream", name);
      assert.match(headers.get("content-disposition") ?? "", /^attachment; /, name);
      assert.equal(headers.get("x-content-type-options"), "nosniff", name);
      assert.equal(
        headers.get("content-security-policy"),
        "default-src 'none'; frame-ancestors 'none'; sandbox",
        name,
      );
    }
    await session.put("picture.png", await drawPicture());
    const { headers } = await session.get("picture.png");
    assert.equal(headers.get("content-type"), "image/png");
    assert.match(headers.get("content-disposition") ?? "", /^inline; /);
    assert.match(headers.get("content-security-policy") ?? "", /sandbox$/);
  });

  it("names the file, whatever its name is", async () => {
    const session = await openFiles(service);
    const name = `Grüße "x" %41; a=b\r\n.txt`;
    await session.put(encodeURIComponent(name), "x");
    assert.equal(
      (await session.get(encodeURIComponent(name))).headers.get("content-disposition"),
      `attachment; filename="Gr__e _x_ _41; a=b__.txt"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%22x%22%20%2541%3B%20a%3Db%0D%0A.txt`,
    );
  });
});

describe("who may", () => {
  it("read: every visitor and key; write and remove: the role drive and keys that may write", async () => {
    const session = await openFiles(service);
    await session.put("a.txt", "x");
    for (const role of ["view", "comment", "drive"] as const) {
      const visitor = await session.as(role);
      assert.equal((await session.get("a.txt", visitor)).status, 200, role);
      assert.equal((await service.call("GET", session.files, undefined, visitor)).status, 200, role);
      const expected = role === "drive" ? [201, 200] : [403, 403];
      const put = await session.put(`by-${role}`, "x", visitor);
      const removed = await session.remove(`by-${role}`, visitor);
      assert.deepEqual([put.status, removed.status], expected, role);
    }
    assert.equal((await session.put("own", "x", session.asOwner)).status, 201);
    const elsewhere = { ...session.asOwner, origin: "https://evil.example" };
    assert.equal((await session.put("evil", "x", elsewhere)).status, 403);
    assert.equal((await session.get("a.txt", { authorization: "" })).status, 401);
  });

  it("use a workspace: sessions that have one", async () => {
    const session = await openFiles(service, { capabilities: { sandbox: false } });
    const sentence = "this session has no workspace: it was created with capabilities.sandbox: false";
    for (const response of [
      await service.call("GET", session.files),
      await session.get("a"),
      await session.put("a", "x"),
      await session.remove("a"),
    ])
      assert.deepEqual(await refusalOf(response), [409, sentence]);
    const structured = await openFiles(service, {
      outputSchema: { type: "object", properties: {} },
    });
    assert.equal((await structured.put("a", "x")).status, 201);
  });

  it("use a workspace: deployments that have a sandbox", async () => {
    const bare = await openTestService({ SANDBOX: "none" });
    try {
      bare.model.respondWith(() => ({ text: "Done." }));
      const session = await openFiles(bare);
      assert.deepEqual(await refusalOf(await session.put("a", "x")), [
        409,
        "this session has no workspace: this deployment has no sandbox (SANDBOX=none)",
      ]);
      const attached = await bare.call("POST", `${session.api}/agent/messages`, {
        text: "Look",
        attachments: ["a"],
      });
      assert.equal(attached.status, 400);
    } finally {
      await bare.close();
    }
  });
});
